import HTTP
import HTTPTypes
import Testing

@Suite("Accept (RFC 9110 §12.5.1)")
struct AcceptedMediaTypesTests {
    @Test(
        "Plain text only if it is preferred",
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
        let accepted = AcceptedMediaTypes(fields)
        #expect((accepted.weight(of: "text/plain") > accepted.weight(of: "application/json")) == expected)
    }

    @Test("The most specific range gives the weight; without the field everything is acceptable")
    func specificity() {
        let accepted = AcceptedMediaTypes([.accept: "*/*;q=0.1, text/*;q=0.5, text/plain;format=flowed;q=0.7"])
        #expect(accepted.weight(of: "text/plain") == 0.7 && accepted.weight(of: "text/html") == 0.5)
        #expect(accepted.weight(of: "image/png") == 0.1 && accepted.explicitWeight(of: "image/png") == nil)
        #expect(AcceptedMediaTypes([:]).weight(of: "image/png") == 1)
        #expect(AcceptedMediaTypes([.accept: "text/html"]).weight(of: "image/png") == 0)
    }

    @Test(
        "A weight that cannot be read is none, one above 1 is 1",
        arguments: [("x", 0), ("", 0), ("-1", 0), ("0x1", 0), ("1e-1", 0), ("nan", 0), ("7", 1), ("0.250", 0.25)]
    )
    func weights(text: String, expected: Double) {
        #expect(AcceptedMediaTypes([.accept: "text/html;Q=\(text)"]).weight(of: "text/html") == expected)
    }

    @Test("A comma inside of a quoted parameter does not separate")
    func quoted() {
        let accepted = AcceptedMediaTypes([.accept: "text/html;a=\"x, text/plain;q=0\", text/plain"])
        #expect(accepted.weight(of: "text/plain") == 1 && accepted.weight(of: "text/html") == 1)
    }
}

@Suite("Accept-Language (RFC 9110 §12.5.4)") struct AcceptedLanguagesTests {
    @Test(
        "HARN-30 The language of greatest weight is preferred; regions and scripts do not matter",
        arguments: [
            (["ru"], "ru"), (["en"], "en"), (["RU-ru, en;q=0.8"], "ru"), (["en-GB;q=0.9, ru;q=0.8"], "en"),
            (["de, fr;q=0.9, ru;q=0.1"], "ru"), (["ru;q=0.3, en;q=0.5"], "en"), (["de", "ru;q=0.5"], "ru"),
            (["zh-Hans-CN, en-US-x-twain"], "en"), (["ru, en"], "ru"),
        ]
    )
    func preferred(lines: [String], expected: String) {
        #expect(AcceptedLanguages(lines).preferred(of: ["en", "ru"]) == expected)
    }

    @Test(
        "HARN-30 A language that is not acceptable is not chosen if there is another one",
        arguments: [
            (["ru;q=0"], "en"), (["en-US;q=0.0, *"], "ru"), (["de, ru;q=0"], "en"), (["*;q=0.1, en;q=0"], "ru"),
        ]
    )
    func refused(lines: [String], expected: String) {
        #expect(AcceptedLanguages(lines).preferred(of: ["en", "ru"]) == expected)
    }

    @Test(
        "HARN-30 What names none of the languages, or any, leaves the choice to the server",
        arguments: [
            [], [""], ["de"], ["*"], ["ru;q=0, en;q=0"], ["*, ru;q=0.5"], ["rus"], ["ru_RU"],
            ["de, *;q=0.1"], [";;,,="],
        ]
    )
    func none(lines: [String]) {
        #expect(AcceptedLanguages(lines).preferred(of: ["en", "ru"]) == nil)
    }
}

@Suite("Accept-Encoding (RFC 9110 §12.5.3)")
struct AcceptedEncodingsTests {
    @Test(
        "Clients that take gzip",
        arguments: [
            ["gzip"], ["GZIP"], ["deflate, gzip;q=0.1"], ["*"], ["br", "gzip"], ["x-gzip"], ["gzip ; q=1.0"],
            ["*;q=0, gzip"], ["gzip, identity"], ["gzip;q=0.5, *;q=0.1"],
        ]
    )
    func takes(values: [String]) {
        #expect(AcceptedEncodings.allowGzip(values))
    }

    @Test(
        "Clients that do not",
        arguments: [
            [], [""], ["identity"], ["gzip;q=0"], ["gzip;q=0.000, *"], ["br, deflate"], ["*;q=0"], ["gzipped"],
            ["gzip;q=x"], ["gzip;q=0.5, identity;q=1"], ["gzip;q=0.5, *;q=1"], ["identity, gzip;q=0.9"],
        ]
    )
    func refuses(values: [String]) {
        #expect(!AcceptedEncodings.allowGzip(values))
    }
}
