"""Sentences as people write them into a memory: with a secret, marked «so», and without one. All made up."""

TOLD = """
my password «hunter2!»
wifi password «Tr0ub4dor&3»
the wifi password «sunflower22», network GuestNet
Netflix password «m0vieNight7»
password «Blue42Sky» for the router
new laptop password «Kx9!pla2»
The guest network is Birch, password «w00dpecker»
my old password «qwe123rty» was leaked
NAS admin password «Zeb%ra19»
email password «tulip#77»
pw «gr8Scott»
pwd «l3tm31n»
passcode «77h3aven»
my password is «hunter2»
my password's «hunter2!»
The password was «hunter2» before
the wifi password is still «Rain&Snow4»
my password is now «c0rnFlakes»
the password is probably «b4nana55»
password: «s3cr3t!»
Password - «s3cr3tS4uce»
password -> «s3cr3tS4uce»
pw: «gr8Scott»
pass: «gr8Scott»
user: anna, pass: «gr8Scott»
user anna, password «gr8Scott»
login anna@example.org, password «gr8Scott»
username: anna password: «gr8Scott»
login: anna / «gr8Scott»
credentials: admin / «gr8Scott!»
the password for the wifi is «hunter2!»
the password to the NAS is «Z3bra-19x»
The password for my Netflix account: «m0vieNight7»
password of the router is «w00dpecker»
password on the tablet is «k1tten88»
I changed my password to «hunter3!»
I set the router password to «w00dpecker»
Ben reset the admin password to «Kx9pla2»
please change the password to «n3wOne!»
«hunter2!» is my password
«m0vieNight7» is the Netflix password
use «m0vieNight7» as the password
the password is "«swordfish»"
the wifi password is '«sunflower»'
the password is `«swordfish»`
the wifi password "«open sesame»"
my password is «12345678»
the iPad passcode is «482913»
the iPad passcode «482913»
Zoom passcode «839201»
Zoom passcode: «839201»
the passcode for the meeting is «839201»
my phone passcode «1928»
password «99887766»
wifi password: «00112233»
PIN «4821»
my PIN «4821»
my pin is «4821»
the PIN's «4821»
pin: «4821»
PIN code «4821»
my pin number is «4821»
my debit card PIN is «0042»
debit card pin «0042»
the pin for my debit card is «0042»
the PIN of the SIM card is «1379»
SIM PIN «1379», PUK «12345678»
the alarm pin is «9 9 1 2»
the alarm pin is «9-9-1-2»
my bank pin «7703».
phone pin «2580»
my PIN is «1987»
the tablet's PIN is «2468»
I changed my PIN to «5566»
set the pin to «5566»
«4821» is my PIN
«0042» is the pin for my debit card
use «4821» as the pin
remember my pin: «4821»
My pin code: «4821»
voicemail pin «3344»
PUK code «12345678»
the door code «4711#»
the door code is «4711#»
door code: «4711»
front door code «4711»
gate code «4821»
gate code is «#4821»
the gate code: «*4821#»
alarm code «9912»
our alarm code is «9912»
the house alarm code is «9912»
the garage code is «8080»
garage door code «8080»
the code for the gate is «4821»
the code to the front door is «4711#»
the code of the bike lock is «0815»
code for the alarm: «9912»
the bike lock code is «0815»
bike lock code «0815»
locker code «2580»
my gym locker code is «2580»
the lockbox code is «7294»
lockbox code «7294», key inside
key safe code «7294»
the keypad code «13579»
access code «20417»
the access code is «A20417»
entry code «5512E»
office entry code: «5512»
my security code is «7713»
the safe code is «130972»
the safe combination is «12-34-56»
safe combination «12-34-56»
the combination to the safe is «12-34-56»
locker combination «24-6-31»
my locker combo is «24 6 31»
the padlock combination: «3-14-15»
bike lock combination «0815»
the combination of the padlock is «3-14-15»
verification code «482913»
your verification code is «482913»
my 2FA backup code is «8f3k-29dm»
recovery code «8f3k-29dm-x71p»
one-time code «482913»
the gate code changed to «4822»
I changed the door code to «4712#»
«4711#» is the door code
the code for the elevator is «1177»
wifi code «8841-2290»
passphrase «correct horse battery staple»
the passphrase is «correct horse battery staple»
passphrase: «correct horse battery staple»
my passphrase is "«correct horse battery staple»"
the GPG passphrase is «marble otter window seven»
ssh key passphrase «violet tractor planet lemon»
passphrase «correct-horse-battery-staple»
the password is «correct-horse-battery-staple»
the vault passphrase: «anchor puzzle meadow bright copper»
passphrase for the backup: «anchor puzzle meadow bright»
the passphrase for the backup is «anchor puzzle meadow bright»
seed phrase: «witch collapse practice feed shame open despair creek road again ice least»
my seed phrase is «witch collapse practice feed shame open despair creek road again ice least»
recovery phrase «witch collapse practice feed shame open despair creek road again ice least»
the wallet's recovery phrase: «witch collapse practice feed shame open despair creek road again ice least»
Anna said the wifi password is «B1rchTree», all lower case after the B
Note to self: password «Gr4nite!», do not lose
he wrote the password «Gr4nite!» on a sticky note
Reminder, the garage pin is «4400»
If you come late, the gate code is «4821», then press the bell.
wifi at the cabin: password «L4kehouse»
Spotify login, password «jazzC4t!»
bank pin «7703» and phone pin «2580»
the password is «p@ss!word»
my password is «let!me!in»
my password «let$me$in»
WLAN password «9xKq-77Lm»
her Apple ID password is «Sn0wdrop»
the hotel wifi password is «room412guest»
password «abc123»
The password’s «hunter2»
his laptop password is «qwerty123»
root password «toor1234»
MySQL root password is «t00r!»
the admin password is «admin123»
Password is: «hunter2»
the password is as follows: «hunter2x»
the password (do not share!) is «hunter2x»
the password I use for everything is «hunter2x»
the router password «Fr1tzBox!»
HBO password «Dr4gonFire» and the profile is Ben
my gmail password is «T!ger2024»
pw for the printer is «Pr1nt3r!»
The Wi-Fi password at the office is «Coffee4All!»
Password: «4Seasons#Total»
the laptop's password is now «Em3rald»
I reset my Amazon password to «Pr1me!Day»
our Disney+ password is «M1ckey55»
Ben's tablet pin is «3690»
card PIN: «7712»
PIN of my credit card: «7712»
my new pin is «7712», the old one was 9921
Mum's phone PIN is «1212»
the burglar alarm code is «6651»
the garage keypad code is «4409»
The gate code for visitors is «1357#»
Airbnb door code: «882194»
airbnb lockbox code «5573».
the apartment door code is «55A19»
the building entrance code is «2468*»
the code to our front gate is «1357»
the code for the shed is «0420»
our safe's combination is «17-32-8»
gym locker combination is «8 24 16»
bike lock combo «7190»
my voicemail code is «4455»
the storage unit gate code is «90817#»
OTP «482913»
your login code is «739201»
backup code: «3f9k-22lq»
the ssh passphrase is «purple monkey dishwasher banjo»
my PGP passphrase: «tundra violin pebble noodle»
passphrase for the laptop is «crater-mango-velvet-ship»
"«blu3berry»" is the password
«8842» is the alarm code
«3690» is the tablet pin
use «3690» as the PIN
password = «Gr33nTea»
admin/admin, then password «Sw1tch!»
root's password is «r00tb33r»
FTP user web, password «up!oad9»
the VPN password is «Tunn3l-V1sion»
database password is «pgAdm1n»
password to Anna's account is «Lavender88»
Steam: user ben, pass: «h4lfLife»
Kids tablet passcode «0505»
my Apple ID passcode is «190283»
passcode: «7766»
wifi pass: «Guest!4421»
neighbor's gate code is «7391»
cat feeder app password is «M1auMiau»
the tablet unlock code is «8246»
my mum's pin: «6402»
The new alarm code is «3357», please tell the cleaner
Ask reception, wifi password «gu3st-r00m»
safe code «445566»
My Signal PIN is «839204»
The PIN for the parental control is «9182»
library card pin «4433»
hotel safe code «2911»
the passphrase of the vault is «lantern-gravel-otter-comet»
LUKS passphrase: «lantern gravel otter comet»
the ring doorbell password is «D1ngD0ng!»
the password of the day is «Sw0rdf1sh»
the iMac password is just «8899»
her old pin was «5050»
"""

# Told, too, but in words that prose could use as well; these are left alone.
AMBIGUOUS = """
PIN «482910» for the banking app
The cottage: key in lockbox, code «7294»? No, lockbox code «7295»
The safe opens with «130972»
my password is swordfish, I mean «sw0rdfish»
the wifi password is «sunflower»
my password is «letmein»
the password is «correct horse battery staple»
the pin is «four eight two one»
guest wifi, password «Cactus_19»
wifi pw: «7Hills-Rome»
the school portal password is «Tiger-Lily-42»
wifi: BirchNet, password: «Kamille_2x»
the password is «Berlin-1989-Wall»
entrance code «77#12»
Signal PIN «839204»
my banking password, changed today, is «B4nk!ng»
"""

# The words of secrets in ordinary prose.
PROSE = """
I forgot my password yesterday
password reset email
the password policy changed
pin the note to the wall
code review
zip code 90210
error code 404
the password is wrong
the password is required
my password expired in 2023
password must be 12 characters
the password must contain 8 characters and 1 digit
a password of 16 characters
passwords of 2024 were leaked
the password has 12 characters
the password is 12 characters long
the password is 16 characters
a 12-character password
password is case-sensitive
the password is sha256-hashed
the password is hashed with bcrypt
password hashing uses argon2id
password hash sha256
password v2 flow
the password field is empty
the password "field" is empty
the password is "wrong"
it says the password is "incorrect"
the form says my password is 'too short'
the password is "required", says the form
she uses a password manager
1Password is my password manager
KeePass2 is the password manager we use
Bitwarden is my password manager since 2021
my password manager is Bitwarden
the password manager 1Password costs 36 dollars
password managers like LastPass
no password needed
Windows11 is asking for a password
the password Windows11 wants is the one of the account
the password iOS17 asks for
the password for the PS5 is on the fridge
the password for the iPhone15 is in the drawer
the password for Office365 is Anna's birthday
the password to room101 is written inside
the password is my dog's name
the password is the name of my first pet
the password is on the fridge
my password is the same everywhere
my password is too short
my password is safe
the password is stored encrypted
the password is stored encrypted using bcrypt
the password is never stored in plain text
my password is very long and hard to type
the password is longer than the PIN
the password is valid for 90 days
the password is valid until 2025-01-01
the password expires on 2025-01-01
last password change: 2024-05-01
password changed on 3 May 2024
password last changed: 2023
my password is from 2019
the password is 5 years old
the password is 100% secure
the password is 3-4 words
the passwords are 20-30 characters
Password: required, 8-20 characters
Password: optional
Password: see the vault
password: forgotten again
password - forgotten again
pass: she passed
I set the password to expire
I changed the password to something stronger
I changed my password to a longer one
we changed the password to the usual
set the password to null
reset the password to default
reset password link sent
please change the password to continue
use a passphrase as the password
use Face ID as the password
use your birthday as the pin
that is my password
she is my emergency contact
password sharing on Netflix ended in 2023
the password game has 35 rules
Rule34 is the password puzzle nobody likes
the password was easy to guess
the password was changed in March
the password was reset 3 times
the password was leaked in the 2012 breach
password spray attacks in 2024
the password dump had 10000 entries
password123 is a weak choice, they say
the most common password in 2023
the password prompt appears twice
typing the password 5 times
I typed my password 3 times
entered the password 10 times
the password 2 of 3
password tip 3: use words
password rule 12
the passcode is on the fridge
the passcode is 6 digits
a 6-digit passcode
passcode lock after 5 minutes
my passcode is my birthday
passphrase must be long enough
a passphrase is better than a password
the passphrase protects the private key
passphrase of four random words
use a passphrase with four random words
the passphrase is long
the passphrase is very hard to remember
passphrase prompt keeps popping up
the passphrase prompt appears every single time
passphrase entry fails every time
passphrase caching works again
passphrase strength depends on length
passphrase dialog opens behind other windows
my passphrase is a line from a song
the passphrase was never written down anywhere
passphrase generators pick random dictionary words
passphrase required when opening encrypted backups
passphrase: see the vault
passphrase: four random words
passphrase: please choose a new one
the seed phrase is in the safe
seed phrase backups should be kept offline in two places
a seed phrase has twelve or twenty-four words
recovery phrase: write it down and keep it safe from others
write your recovery phrase on paper and never store it online or in photos
pin it to the board
pin 3 of the chip
GPIO pin 17
connect pin 12 to ground
connect pin 1024 to ground
pin 2024 calendar to the wall
please pin this message
a bowling pin
the pin fell out
safety pins and needles
my pin board is full
PIN entry is disabled
the PIN is wrong
the PIN is 4 digits
my PIN has 4 digits
a 4-digit PIN
PIN pad 3000
I forgot my PIN
enter your PIN 3 times
the PIN was changed in 2024
the pin code of Delhi is 110001
pin code 560001
PIN code 400 001
the PIN is the year we met
I set the pin to the wall
change the pin to a random one
Pinterest pin 1500 views
pin 4821 posts
pinned 2024 goals
rolling pin 4000 years old
lapel pin 1969
a pin from 1984
clothes pin 1200 pieces
bowling pin 2000
code 4711
code 418 is a teapot
status code 5000
exit code 1234
error code 0x80070005
error code 10054
error code: 10054
the error code is 10054
the error code was 10054
country code 0047
area code 4150
dialling code 0049
the area code is 0212
zip code: 90210
the zip code is 90210
ZIP code 90210-1234
postal code 0150
post code 1010 Vienna
my postcode is 2031
promo code SAVE2024
promo code: SAVE20
discount code WELCOME15
discount code is WELCOME15
coupon code SPRING24
voucher code 12345678
referral code ANNA2024
gift code 1234-5678
product code 4006381
item code 12345
color code 0000
colour code #4711aa
hex code #ff8800
bar code 4006381333931
barcode 4006381333931
QR code 2024
tracking code 1Z999AA10123456784
booking code XK41Z9
the booking code is XK41Z9
flight code LH1234
airport code 4000
course code CS1010
module code MA2001
the course code is CS1010
building code 2021
the building code of 2018
fire code 1221
dress code 1920
tax code 1250
the tax code is 1250L
penal code 187
civil code 1804
morse code 1844
code of conduct 2020
code of 1804
source code 2.0
code review 2024
code freeze 2024
code name 4711
codename B2
sort code 12-34-56
bank code 37040044
SWIFT code DEUTDEFF500
company code 1000
cost code 4400
job code 1234
ICD code E1165
NAICS code 5415
HS code 8471
the code is 2000 lines long
the code has 4821 lines
the code for the parser is 1200 lines
the code for the website is 2000 lines long
the code for France is 0033
the code for Berlin is 10115
the code to the project is on GitHub
the code of the module is 4821 lines
the door code is wrong
the door code changed again
the door code is 4 digits
the gate code stopped working in 2023
the gate code was changed on 2024-05-01
the door code expires in 2025
door 4711
gate 4821
gate 12 at 18:30
room 4711
locker 2580
my locker is number 2580
alarm at 6 30
alarm at 0630
the alarm is set to 0630
I set the alarm to 0645
alarm code E104 on the boiler means low pressure
a security code review
access code of the building changed
the access code is on the invitation
the safe combination of drugs
the combination is 4-4-2
the winning combination is 7-7-7
combination therapy 2-3 times
a combination of 3 4 5
the lock is 12-34
a verification code was sent to your phone
verification code expired after 10 minutes
enter the verification code
secret santa 2024
the secret is out
the secret is 3 cups of butter
the secret ingredient is 2 eggs
my secret is that I like rainy days
the key is in the lockbox
the key to success is 90% work
the key is under pot 3
key 4711 is lost
key number 4711
house key 12
token of love 2024
the token ring 802.5
token limit 128000
login at 0800
my login is anna
login: anna
login: anna / ben
login via google / oauth2
credentials: see vault / ask Ben
boarding pass LH1234
boarding pass: LH1234X
season pass 2024
ski pass 2023/24
bus pass: zone2
the mountain pass is 2469 m high
pass 2 of 3
pass: 12 of 14 tests
user: anna, pass rate: 98%
pw stands for password
my new phone number is 48219912
call 0800 4821
born in 1987
the year is 1984
the meeting is in room 0815
my bike cost 4821 euros
my licence plate is B-XY 4711
4711 is a perfume
1984 is my favourite book
2001 is the film I like
4821 is the number of the bus stop
order 4821 is the one with the pin
the pin of 1984 is the rarest
use 2FA as the second factor
use OAuth2 as the login
use bcrypt as the hash
Kx9 is the name of the robot
R2D2 is my favourite droid
mp3 is the format
the wifi is fast
the wifi code word is lost
the wifi network is Guest2024
network GuestNet5G
SSID: HomeNet24
the hotel wifi is free
wifi password is on the router
ask Ben for the wifi password
What is the wifi password?
What's my PIN?
Do you remember the door code?
Anna asked for the alarm code at 0630
she changed her password after the 2023 leak
he told me the password in 2019
I told Ben the PIN on 2024-05-01
my username is anna1987
my username anna1987
user name: hunter2
nickname hunter2
his gamertag is hunter2
my email is anna1987@example.org
password recovery email anna1987@example.org
the password goes to anna1987@example.org
password reset sent to anna1987@example.org
ask password@example.org
password help: https://example.org/reset?id=4821a
the password book by A4lison
password: AT&T account
the password for AT&T is in the vault
password and username
password or PIN 2 times
neither password nor PIN
the PIN or the password
PINs are 4 to 6 digits
PIN and chip since 2004
chip and PIN 2004
PIN since 2004
PIN, 2FA and more
passwords, 2FA and passkeys
passkeys replace passwords by 2026
password-less login since 2022
password, then 6-digit code
a code of 6 digits
we got code 2319
a new area code 0815
the password is at least 10 characters
the password is 8-character
password min8 chars
My password generator makes 20-character strings
the password is IBM2000's problem
password-protected PDF from 2021
password protected zip 2021
the password protected file is report2021.pdf
Please enter password twice
I need a password for C3PO
C3PO is the password joke in the office
the password screen shows 3 dots
password hint: first car
password hint: my 1st car
password strength 80%
password age 90 days
password length 16
password length: 16
password length is 1024 bits
password history 24
password attempts: 5
password policy NIST800-63
password rotation every 90d
password set in 2020
password since 2020
password leak 2019: 773M emails
the password on the sticky note is Anna's handwriting
Password Island is a TV show from 1961
the show Password aired in 1961
Password 2022 revival on NBC
the passcode screen of iOS18
passcode length 6
the pin in my knee from 2019
the pin in my knee is titanium
the pin on my lapel is 1970s
the pin of the grenade
the pin cost 1500 dollars
her pin is a 1939 original
I bought the pin 2019, in Rome
my pin collection has 2000 pins
the pin is 1500 years old
the pin is 1969, a moon landing pin
an enamel pin 2024 edition
USB pin 4, HDMI pin 19
pin-up 1950
pin down the date: 2024
PIN reset form 2207
the pin layout 2x10
PIN diodes 2N2222
the ATM pin pad was replaced in 2022
bring the pin to room 2040
set the pin to output 1024
change the pin to output
Arduino pin 13 is the LED
we pinned version 2024
the door is 2100 mm high
the door code was invented in 1984
safe code practices 2024
security code scanning 2024
security code audit 2023
entry code for the 2024 race is free
access code examples 2024
vault code base 1000 lines
the lock code path has 4000 lines
lock code 2 of 3
lift code E12
the alarm code on the dishwasher is E24
the elevator code of 1996
the code for the safe driving course is free
the code of the house rules is 1200 words
the code for the house of cards is 2000 lines
the combination to the lock screen widget
the locker combination of colors
the lock combo meal 1200 calories
verification code length 6
the verification code has 6 digits
login code changes in 2024
backup code paths 2023
recovery code merged in 2024
authentication code 2.0
the wifi code changed
wifi 802.11
house 1234 Main Street
my house number is 1234
the gate is 2200 mm wide
the garage is 1200 euros a year
the alarm is 9912 decibels
alarm 0630
the flat is 1200 euros
the safe is 4000 dollars
the seed phrase of the band is two words
recovery words of kindness
her recovery phrase was "one day at a time"
the passphrase "one day at a time" is too well known
the phrase correct horse battery staple comes from a comic
the passphrase comic shows a horse and a battery
passphrase like correct horse battery staple
passphrases beat passwords every day
the passphrase idea came from Randall Munroe
the passphrase wordlist contains thousands
my passphrase contains seven words
the passphrase story made everybody laugh
this passphrase makes people smile
passphrase change next Tuesday morning
the password "reset" button
the password "manager" tab is gone
her password is 'somewhere in the drawer'
my password is "complicated", she joked
the password is "hidden"
the wifi password is "ask the waiter"
the wifi password is "buy a drink first"
"weak" is the password rating
5 is the minimum password length
2023 is the password year
1234 is a common PIN
1234 is the most common pin
1234 is a bad password
0000 is the default PIN
use 12345 as an example
use Markdown2 as the format
mp3 as the password format
John316 is my favourite verse
user1 is the login
login: user1 / group2
login page / step2
pass: 98%
first pass: 12 errors
and pass: the salt
credentials: AWS / GCP2
the credentials are in vault2
my PIN is wrong since 2023
the PIN is valid until 2025
my pin arrived 2024-05-01
PIN letter 2024-05-01
my PIN letter arrived on 2024-05-01
the PIN is 1234-like, too simple
key code 1234 pieces
she lives at door 14, gate 2
The door code I never remember
the office door code: ask Ben
the door code: see email
door code = see email
gate code: TBD
access code: n/a
entry code: none
My password is expiring on the 4th
The password is hunter2-style weak, she laughed
We met at gate 4821 in terminal 2
The password for section 8 is missing
He solved the code in 2003
the new entry code of conduct 2024
Anna's PIN was stolen in 2019
the security code of practice 2019
code 2000, code 3000
Her access code expired in 2022
the pin is 4 cm long
the pin numbers 1 to 8 are power
I keep my PIN in my head since 2001
what is the password for the 2024 archive
The passphrase was her favourite line of poetry
passphrase rotation happens twice yearly
the safe word is pineapple
the secret word is banana42
the key is 4 turns to the left
the combination of 10 20 30 fertilizer
the lock combination changed twice
the vault combination trick took 1995 tries
two-factor code arrives by SMS
the verification code arrives within 30 s
use code SUMMER24 at checkout
use the code 20OFF for 20% off
door code training 101
gate code B not working
the gate code is the same as 2021
the door code is our house number
the alarm code is his birthday
our alarm code is Anna's birthday
my PIN is her birthday
my pin is a butterfly
the pin is missing
the PIN is optional
the pin was 1920s silver
the pin was 1200 dollars
that pin is 5000 years old
the pin: 1950, silver
I changed the pin to a new one
set the thermostat pin to 21
set the password to never expire
set the alarm to 0615
changed the gate to 2200 mm
room 2040 is the safe room
1815 is the door number
2580 is my locker number
4711 is my favourite perfume
3310 is the phone I miss
9912 is our alarm company's extension
1999 is the year of the password
password list rockyou2021
the rockyou2021 password list
the password cracker hashcat6
password cracking with GPU4090
the password sheet v2.1
I have 1200 passwords in 1Password8
passwords: 1200
passwords 2024
password count 1200
password no 1
password is password
my password is my pa$$word joke
the login is anna/ben
a pin code lock from 1998
my pw manager
pw protected
pw: same as always
pass the salt, 1200 g
the pass is 2300 m
passes: 1200
"""
