import HTTPSemantics
import Testing

@Suite("Values with parameters (RFC 9110 §5.6.6, RFC 2045 §5.1)")
struct ParameterizedValueTests {
    @Test("Value and names have no case, values do; of two parameters with one name the first counts")
    func parameters() throws {
        let value = try #require(ParameterizedValue(#" Form-Data ; NAME="a;b" ; x=Y; x=z;"#))
        #expect(value.value == "form-data" && value.parameters == ["name": "a;b", "x": "Y"])
    }

    @Test("What is incomplete is nothing", arguments: ["a;b", "a;=c", "a;b=\"c", "a;b=\"c\"d"])
    func incomplete(text: String) {
        #expect(ParameterizedValue(text) == nil)
    }

    @Test(
        "The essence is what stands before the first semicolon",
        arguments: [
            ("Application/JSON; charset=utf-8", "application/json"), (" text/html ", "text/html"), ("", ""), (";a", ""),
        ]
    )
    func essence(text: String, expected: String) {
        #expect(ParameterizedValue.essence(of: text) == expected)
    }

    @Test(
        "An extended parameter is decoded in its charset",
        arguments: [
            ("UTF-8''%e2%82%ac", "€"), ("utf-8'en'a%20b", "a b"), ("ISO-8859-1''%A3", "£"), ("UTF-8''%FF", nil),
            ("UTF-16''a", nil), ("UTF-8''%+f", nil), ("a", nil),
        ]
    )
    func extended(text: String, expected: String?) throws {
        #expect(try #require(ParameterizedValue("a; filename*=\(text)")).extended("filename") == expected)
    }
}
