"""place: where among the slots of a hash table each of many keys stands, or may stand from now on."""
