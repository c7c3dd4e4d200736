"""``latentforest inspect``, recipes and lists of missing texts."""

import json

import latentforest as lf


def write(path):
    lines = ["case;age;score;born"]
    lines += [
        f"c{i};{-99 if i % 9 == 0 else 20 + i};{i / 7:.2f};2001-02-{i % 28 + 1:02d}".replace(
            ".", ","
        )
        for i in range(60)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_inspect_and_its_recipe(run, tmp_path):
    table, recipe, model = write(tmp_path / "t.csv"), tmp_path / "r.toml", tmp_path / "m.json"
    result = run("inspect", table, "--write-recipe", recipe)
    assert "left out" in result.stdout
    assert "pass --missing '-99', or missing for this column in a --recipe" in result.stdout
    assert "--categorical 'case'" in result.stdout
    assert "--recipe" in result.stderr
    text = recipe.read_text()
    recipe.write_text(text.replace('# missing = ["-99"]', 'missing = ["-99"]'))
    result = run("learn", table, "--recipe", recipe, "--states", "2", "--out", model, "--quiet")
    assert result.stderr == ""
    network = lf.load(model)
    assert network.observed == ("age", "score")
    assert network.recipe.missing_by_column == {"age": ("-99",)}
    scored = json.loads(run("score", model, table, "--json").stdout)
    assert scored["missing_values"] == 7
    run("predict", model, table)


def test_inspect_as_json(run, tmp_path):
    found = json.loads(run("inspect", write(tmp_path / "t.csv"), "--json").stdout)
    assert found["rows"] == 60
    assert [row["column"] for row in found["columns"]] == ["case", "age", "score", "born"]
    assert set(found["left_out"]) == {"case", "born"}
    found = json.loads(run("inspect", "hiv-tests", "--json").stdout)
    assert found["findings"] == []


def test_lists_of_missing_texts(run, tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_text('a,b\nx,1.5\nNA,-99\n"p,q",2.5\ny,-8\n')
    options = ("--missing", '-99,"p,q"', "--missing", "-8", "--learner", "independence")
    result = run("learn", path, *options, "--json", "--out", model)
    assert json.loads(result.stdout)["data"]["missing_values"] == 4
    assert lf.load(model).recipe.missing == ("-99", "p,q", "-8")
    assert json.loads(run("score", model, path, "--json").stdout)["missing_values"] == 4


def test_bad_recipes_and_names(run, tmp_path, survey):
    recipe = tmp_path / "r.toml"
    recipe.write_text("wieght = 'times'\n")
    result = run("learn", survey, "--recipe", recipe, code=1)
    assert "no entry 'wieght'; did you mean 'weight'?" in result.stderr
    assert (
        "must end in .toml"
        in run("inspect", survey, "--write-recipe", tmp_path / "r.txt", code=2).stderr
    )


def test_advice_names_the_options(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("s,n\nmild,1\nNone,2\nsevere,1\n")
    result = run("learn", path, "--states", "1", "--quiet", "--json")
    assert "'s' ('None'); if they mean no value, pass --missing 'None'" in result.stderr


def test_long_names_are_shown_whole(run, tmp_path):
    name = "a_question_with_quite_a_long_name_in_the_questionnaire"
    path = tmp_path / "table.csv"
    path.write_text(f"{name},b\n" + "x,u\ny,v\n" * 10)
    shown = run("inspect", path).stdout
    assert "…" not in shown
    assert name in "".join(line.split(" ")[0] for line in shown.splitlines())
