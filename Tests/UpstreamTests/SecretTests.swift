import Testing

@testable import Storage

@Suite("Secrets") struct SecretTests {
    private struct Options { let key: Secret }

    @Test("SRV-11 No description, no mirror and no dump of what holds a secret shows it")
    func hidden() {
        let options = Options(key: Secret("hush"))
        var dumped = ""
        dump(options, to: &dumped)
        for text in [
            "\(options)", String(reflecting: options), String(describing: [options.key]), dumped,
            "\(Mirror(reflecting: options.key).children.count)",
        ] {
            #expect(!text.contains("hush"), "\(text)")
        }
        #expect(options.key.value == "hush" && Secret("").isEmpty && "\(Secret(""))" == "none")
    }
}
