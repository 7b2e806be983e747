import HTTPTypes
import Testing

@testable import Shop

@Suite struct AcceptedTypesTests {
    @Test(
        "plain text only where it is preferred",
        arguments: [
            (nil, false), ("*/*", false), ("text/plain", true), ("text/*", true), ("application/json", false),
            ("text/plain, application/json", false),
            ("text/plain;q=0.5, application/json", false), ("application/json;q=0.5, TEXT/PLAIN;q=0.9", true),
            ("text/plain, */*;q=0.1", true),
            ("text/plain;q=0", false), ("image/png", false), ("nonsense", false), ("text/html,*/*;q=0.8", false),
        ]
    )
    func preference(accept: String?, expected: Bool) {
        var fields = HTTPFields()
        fields[.accept] = accept
        #expect(AcceptedTypes(fields).prefers(["text", "plain"], to: ["application", "json"]) == expected)
    }
}
