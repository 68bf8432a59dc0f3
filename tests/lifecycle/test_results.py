"""Results are values for programs: JSON in `to_dict()`, one line in `repr()`, times as aware datetimes."""

import json

from lifecycle_fixtures import START, living

from thinkback.clock import HOUR, from_us, iso, to_us


def test_a_receipt_has_an_aware_time_and_its_json_the_same_in_iso_8601() -> None:
    with living() as (memory, _):
        receipt = memory.forget_verified(memory.remember("Oscar is a grey cat").id)
    assert receipt.at == from_us(to_us(START))
    plain = json.loads(json.dumps(receipt.to_dict()))
    assert plain["at"] == iso(to_us(START))
    assert plain["warnings"] == [{"code": "no_file_read", "message": receipt.warnings[0].message, "remedy": None}]


def test_actions_of_a_tidying_have_times_as_datetimes() -> None:
    with living() as (memory, clock):
        memory.remember("the parking ticket", expires_at=clock() + HOUR)
        clock.advance(2 * HOUR)
        tidied = memory.tidy(dry_run=False)
    (action,) = tidied.actions
    assert action.after == {"archived_at": from_us(clock())}
    assert json.loads(json.dumps(tidied.to_dict()))["actions"][0]["after"] == {"archived_at": iso(clock())}


def test_a_result_is_shown_on_one_line_with_sizes_instead_of_contents() -> None:
    with living() as (memory, _):
        id = memory.remember("Oscar is a grey cat").id
        assert repr(memory.audit()) == "AuditReport(memories=1)"
        assert repr(memory.forget(id)) == "Forgotten(ids=1)"
        assert repr(memory.tidy()) == "Tidied(dry_run=True)"
