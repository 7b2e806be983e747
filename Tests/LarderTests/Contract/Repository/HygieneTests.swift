import Foundation
import Testing

/// The repository is understood by itself.
@Suite struct HygieneTests {
    /// All text files of ours but documents, which have tests of their own, and the tests with the forbidden words.
    private static var files: [String] {
        let folders = ["Sources", "Tests", "script", "docker", "deploy", ".ci"]
        let found = folders.flatMap { folder in Repository.files(in: folder).map { "\(folder)/\($0)" } }
        let named = ["HygieneTests.swift", "DocumentationTests.swift"]
        return ["Package.swift", "openapi.yaml"] + found.filter { path in !named.contains { path.hasSuffix($0) } }
    }

    @Test("No line points to a document outside of the repository")
    func pointers() throws {
        let pointer = #/design/\w+\.md|\bupstreams/[\w-]+\.md|\bfindings/[\w-]+\.md|\.\./shared\b|/work//#
        // Spares the expression most lines.
        let parts = ["design/", "upstreams/", "findings/", "../shared", "/work/"]
        for file in Self.files {
            guard let text = try? Repository.text(file), parts.contains(where: text.contains) else { continue }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            for (number, line) in lines where parts.contains(where: { line.contains($0) }) {
                #expect(!line.contains(pointer), "\(file):\(number + 1)")
            }
        }
    }

    @Test("No function is itself the value of a mutex: each access would wrap it once more, and calls get deeper")
    func functionsInMutexes() throws {
        for name in Repository.files(in: "Sources", suffixes: [".swift"]) {
            let text = try Repository.text("Sources/\(name)")
            #expect(!text.contains("Mutex<(@Sendable") && !text.contains("Mutex<@Sendable"), "\(name)")
        }
    }
}
