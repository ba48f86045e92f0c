import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.errors import UsageError
from repertory.teams.engineering.contract import Route, stub
from repertory.teams.engineering.contract_text import MAX_CONTRACT_CHARS, read_contract
from repertory.teams.engineering.value_types import ValueType, conforms


def returns(text: str) -> ValueType:
    return read_contract(f"tool: f() -> {text}").tools[0].returns


class TestSignatures:
    def test_two_tools_in_one_line(self) -> None:
        tools = read_contract("tools: c_to_f(c: number)->number, f_to_c(f: number)->number").tools
        assert [tool.name for tool in tools] == ["c_to_f", "f_to_c"]
        assert stub(tools[:1]) == "def c_to_f(c: float) -> float:\n    ..."

    def test_defaults_and_required(self) -> None:
        tool = read_contract(
            "tool: cut(text:string, most:int=60, mark: string = '...', strict: bool=false)->string"
        ).tools[0]
        assert [parameter.default for parameter in tool.parameters[1:]] == [60, "...", False]
        assert tool.input_schema["required"] == ["text"]

    def test_optional_parameter(self) -> None:
        tool = read_contract("tool: find(text: string, after?: int) -> int").tools[0]
        assert not tool.parameters[1].required
        assert tool.parameters[1].default is None

    @pytest.mark.parametrize(
        ("written", "low", "high"),
        [("int 1..3999", 1, 3999), ("int >= 0", 0, None), ("int < 10", None, 9), ("number 0..0.5", 0, 0.5)],
    )
    def test_bounds(self, written: str, low: float | None, high: float | None) -> None:
        kind = read_contract(f"tool: f(n: {written}) -> int").tools[0].parameters[0].type
        assert (kind.low, kind.high) == (low, high)

    def test_the_bracket_after_bounds_ends_the_parameters(self) -> None:
        tools = read_contract("tools: to(n:int 1..9)->string, back(s:string)->int").tools
        assert [tool.name for tool in tools] == ["to", "back"]

    def test_words_that_are_no_types_are_passed_over(self) -> None:
        tool = read_contract("tool: at(day: string like '2024-01-31', n: int (in cents)) -> string").tools[0]
        assert [parameter.type.kind for parameter in tool.parameters] == ["string", "integer"]

    def test_a_bracket_in_the_rules_is_no_tool(self) -> None:
        contract = read_contract("tool: calc(e:string)->number; + - ( ) and sqrt() are known")
        assert [tool.name for tool in contract.tools] == ["calc"]
        assert contract.rules == ("+ - ( ) and sqrt() are known",)


class TestResults:
    def test_an_object_with_named_fields_is_closed(self) -> None:
        kind = returns("{count:int, mean:number|null}")
        assert conforms({"count": 1, "mean": None}, kind)
        assert not conforms({"count": 1}, kind)
        assert not conforms({"count": 1, "mean": 1, "more": 1}, kind)

    def test_dots_leave_an_object_open(self) -> None:
        kind = returns("list[{op:'add'|'remove', path:string like '/x/0', ...}] sorted by path")
        assert conforms([{"op": "add", "path": "/a", "value": 1}], kind)
        assert not conforms([{"op": "other", "path": "/a"}], kind)

    def test_a_list_of_pairs(self) -> None:
        kind = returns("list[[path,count:int]]")
        assert conforms([["/a", 3]], kind)
        assert not conforms([["/a"]], kind)

    @pytest.mark.parametrize(("kind", "value"), [("int", True), ("number", False), ("int", 1.5), ("string", None)])
    def test_true_is_no_number(self, kind: str, value: object) -> None:
        assert not conforms(value, returns(kind))


class TestKinds:
    def test_routes(self) -> None:
        contract = read_contract("HTTP: POST /hook body JSON {id, cents}; GET /totals -> {events:int}")
        assert contract.kind == "http"
        assert contract.routes == (Route("POST", "/hook"), Route("GET", "/totals"))

    def test_a_conversation(self) -> None:
        assert read_contract("chat agent; cites as [N1]").kind == "chat"

    @pytest.mark.parametrize("text", ["", "something nice", "tool: f(", "tool: f(a, b) without a result", "f(x"])
    def test_what_promises_nothing_is_told_how_to_write_it(self, text: str) -> None:
        with pytest.raises(UsageError) as caught:
            read_contract(text)
        assert "tool: slug(" in (caught.value.hint or "")

    def test_too_long(self) -> None:
        with pytest.raises(UsageError, match=str(MAX_CONTRACT_CHARS)):
            read_contract("x" * (MAX_CONTRACT_CHARS + 1))

    @given(st.text(alphabet="tool:f(a,b)->{}[]|'\"=.?;\n 0123456789int list<>", max_size=200))
    def test_any_text_gives_a_contract_or_a_usage_error(self, text: str) -> None:
        try:
            contract = read_contract(text)
        except UsageError:
            return
        assert contract.tools or contract.routes or contract.kind == "chat"
        compile(stub(contract.tools).replace("...", "pass") or "pass", "stub", "exec")

    def test_deep_types_end(self) -> None:
        assert returns("list[" * 500 + "int" + "]" * 500).kind == "array"
