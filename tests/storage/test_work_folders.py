"""Working folders lie apart by person, whatever the person is called, and are erased with the person."""

from pathlib import Path

import pytest

from repertory.errors import StorageError
from repertory.home import locate_home
from repertory.storage.store import Store
from repertory.storage.work_folders import erase_work_folders, folder_name, work_folder_of_user


@pytest.mark.parametrize("user", ["ada", "../../etc", "/", "a/b", "a\nb", "\u202e", "x" * 200, ".", ".."])
def test_no_id_leads_out_of_the_folder(tmp_path: Path, user: str) -> None:
    folder = work_folder_of_user(tmp_path, user)
    assert folder.parent == tmp_path
    assert folder.name.isalnum()


def test_ids_that_look_alike_when_joined_have_folders_of_their_own() -> None:
    names = {folder_name("a", "b"), folder_name("ab"), folder_name("a b"), folder_name("b", "a")}
    assert len(names) == 4


def test_erasing_a_person_leaves_the_others(tmp_path: Path) -> None:
    root = locate_home().harness
    for user in ("ada", "bob"):
        folder = work_folder_of_user(root, user) / "session" / "coach"
        folder.mkdir(parents=True)
        (folder / "notes").write_text(user)
    outside = tmp_path / "outside"
    outside.write_text("stays")
    (work_folder_of_user(root, "ada") / "session" / "link").symlink_to(outside)
    with Store.open() as store:
        store.erase("ada")
    assert [path.read_text() for path in root.rglob("notes")] == ["bob"]
    assert outside.read_text() == "stays"


def test_a_folder_that_can_not_be_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_folder_of_user(tmp_path, "ada").mkdir()

    def refuse(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("repertory.storage.work_folders.shutil.rmtree", refuse)
    with pytest.raises(StorageError, match="can not be removed: Permission denied"):
        erase_work_folders(tmp_path, "ada")
    erase_work_folders(tmp_path, "bob")
