import HTTPSemantics
import Testing

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
