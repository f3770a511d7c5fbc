from core.ids import is_id, new_id


def test_ids_sort_in_the_order_of_their_creation():
    ids = [new_id("par") for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_an_id_has_its_prefix_and_26_characters():
    made = new_id("cmp")
    assert is_id(made, "cmp")
    assert not is_id(made, "par")
    assert not is_id("cmp_short", "cmp")
