import Foundation
import Sandbox
import TestKit
import Testing

/// The documents for people: their links lead somewhere, and nothing outside of the repository is needed to read them.
@Suite struct DocumentationTests {
    private static let root = Repository.root

    /// Paths of all Markdown files, relative to the root.
    private static let documents: [String] = {
        let top = ((try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? [])
        let below = FileManager.default.enumerator(atPath: root.appending(path: "docs").path)?.compactMap {
            $0 as? String
        }
        return (top + (below ?? []).map { "docs/\($0)" }).filter { $0.hasSuffix(".md") }.sorted()
    }()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// The lines that are neither in a code block nor in a table.
    private func prose(_ path: String) throws -> [Substring] {
        var isCode = false
        return try text(path).split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode && !line.hasPrefix("```") && !line.hasPrefix("|")
        }
    }

    /// The anchor that GitHub gives a heading.
    private func anchor(_ heading: Substring) -> String {
        let text = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(text.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }).replacing(" ", with: "-")
    }

    @Test("the README is one page: 700 words at most")
    func length() throws {
        #expect(try text("README.md").split(whereSeparator: \.isWhitespace).count <= 700)
    }

    @Test("docs/sandbox-controls.md is what `larder sandbox --markdown` prints")
    func controls() throws {
        let file = "docs/sandbox-controls.md"
        #expect(try text(file) == Sandbox.controlsPage(), "run: larder sandbox --markdown > \(file)")
    }

    @Test("every document is reached from the README")
    func reached() throws {
        var seen: Set<String> = []
        var next = ["README.md"]
        while let path = next.popLast() {
            guard seen.insert(path).inserted else { continue }
            next += try links(in: path).map(\.target).filter { $0.hasSuffix(".md") }
        }
        #expect(Set(Self.documents).subtracting(seen).isEmpty)
    }

    @Test("links lead to files and headings of the repository", arguments: documents)
    func targets(path: String) throws {
        for link in try links(in: path) {
            let file = Self.root.appending(path: link.target)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(path) → \(link.target)")
            guard let fragment = link.fragment, link.target.hasSuffix(".md") else { continue }
            let headings = try prose(link.target).filter { $0.hasPrefix("#") }.map(anchor)
            #expect(headings.contains(fragment), "\(path) → \(link.target)#\(fragment)")
        }
    }

    @Test("lines end at 120 characters, tables, code and URLs aside", arguments: documents)
    func width(path: String) throws {
        let long = try prose(path).filter { $0.count > 120 && !$0.contains("://") }
        #expect(long.isEmpty, "\(path): \(long)")
    }

    @Test("no document needs a file outside of the repository", arguments: documents)
    func selfContained(path: String) throws {
        let content = try text(path)
        for outside in ["screens.md", "acceptance.md", "../shared", "/work/", "findings/"] {
            #expect(!content.contains(outside), "\(path): \(outside)")
        }
    }

    @Test("tests that documents, scripts and reasons name are there")
    func tests() throws {
        let files = Repository.files(in: "Tests", suffixes: [".swift"]).map { "Tests/\($0)" }
        let types = try files.flatMap { file in
            try text(file).components(separatedBy: "struct ").map { "\(file)/\($0.prefix(while: \.isLetter))/" }
        }
        let scripts = Repository.files(in: "script").map { "script/\($0)" }
        for path in Self.documents + scripts + ["Tests/LarderTests/Contract/ConformanceTests.swift"] {
            for name in try text(path).matches(of: /([A-Za-z]+\/)?\b[A-Z][A-Za-z+]+Tests\b/) {
                // A folder, a file or a suite.
                let isThere =
                    types.contains { $0.contains("/\(name.0)/") || $0.contains("/\(name.0).swift/") }
                    || files.contains { $0.hasPrefix("\(name.0)/") }
                #expect(isThere, "\(path): \(name.0)")
            }
        }
    }

    @Test("the files on the path of a request are there: script/path-of-request")
    func path() throws {
        let section = try #require(text("docs/architecture.md").components(separatedBy: ", file by file\n").last)
        let lines = section.split(separator: "\n").prefix { !$0.hasPrefix("#") }
        let rows = lines.filter { $0.hasPrefix("| ") }
        let named = rows.dropFirst().flatMap { $0.split(separator: "|")[1].split(separator: ",") }
        let paths = Repository.files(in: "Sources", suffixes: [".swift"])
        let files = Set(paths.compactMap { $0.split(separator: "/").last })
        for name in named.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            #expect(files.contains("\(name).swift"), "docs/architecture.md: \(name)")
        }
        #expect(section.contains("The \(named.count) files"))
    }

    @Test("the contract lists the codes of openapi.yaml, and no others")
    func codes() throws {
        let described = Set(try text("openapi.yaml").matches(of: /urn:larder:problem:([a-z-]+)/).map { String($0.1) })
        let rows = try text("docs/contract.md").split(separator: "\n").filter { $0.contains(/^\| [45][0-9]{2} \|/) }
        let listed = rows.flatMap { row in row.matches(of: /`([a-z]+(?:-[a-z]+)*)`/).map { String($0.1) } }
        #expect(Set(listed).subtracting(["only-if-cached", "href"]) == described)
    }

    private struct Link {
        /// Path relative to the root.
        let target: String
        let fragment: String?
    }

    /// Returns the links of a document that lead to files; those to other sites are left out.
    private func links(in path: String) throws -> [Link] {
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        return try text(path).matches(of: /\]\(([^)\s]+)\)/).compactMap { match in
            let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard !match.1.contains("://") else { return nil }
            let fragment = parts.count > 1 ? parts[1] : nil
            guard !parts[0].isEmpty else { return Link(target: path, fragment: fragment) }
            var components: [Substring] = []
            for component in "\(folder)/\(parts[0])".split(separator: "/") where component != "." {
                if component == ".." { _ = components.popLast() } else { components.append(component) }
            }
            return Link(target: components.joined(separator: "/"), fragment: fragment)
        }
    }
}

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
