"""The page where people look into a memory: plain files, served at / by the HTTP app."""
