import Foundation
import Testing

/// The articles of the modules in Sources/Kit, which script/docs builds.
@Suite struct ArticleTests {
    private static let modules = Set(
        Repository.files(in: "Sources/Kit").map { path in String(path.prefix { $0 != "/" }) }
    ).sorted()
    private static let tests = Repository.files(in: "Tests", suffixes: [".swift"]).compactMap {
        try? lines(Repository.text("Tests/\($0)"))
    }

    /// Returns lines without their indentation.
    private static func lines(_ text: some StringProtocol) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: "\n")
    }

    @Test("HOUSE-02 each example of docs/your-own-app.md is in the example app as it is")
    func ownApp() throws {
        let app = Self.lines(try Repository.text("examples/weather/Weather.swift"))
        let examples = try Repository.text("docs/your-own-app.md").matches(of: /```swift\n([^`]+)\n```/)
        #expect(examples.count >= 3)
        for example in examples { #expect(app.contains("\n\(Self.lines(example.1))\n"), "\(example.1)") }
    }

    @Test("each module of the kit has an article, and each of its examples is in a test as it is", arguments: modules)
    func examples(module: String) throws {
        let article = try Repository.text("Sources/Kit/\(module)/Documentation.docc/\(module).md")
        #expect(article.hasPrefix("# ``\(module)``\n") && article.contains("\n## Topics\n"))
        #expect(article.split(separator: "\n").allSatisfy { $0.count <= 120 })
        let examples = article.matches(of: /```swift\n([^`]+)\n```/).map { Self.lines($0.1) }
        #expect(!examples.isEmpty)
        for example in examples {
            #expect(Self.tests.contains { $0.contains("\n\(example)\n") }, "no test has:\n\(example)")
        }
    }
}
