import Foundation
import NIOCore
import Testing

@testable import Screens

@Suite struct WebAssetsTests {
    /// The folder whose files are part of the program.
    private static let site = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../Sources/CWebAssets/site"
    ).standardizedFileURL

    @Test("The files of the program are those of site/, byte for byte; script/embed-site writes their list")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.site.path)
        let embedded = WebAssets.embeddedFiles()
        #expect(embedded.keys.sorted() == names.sorted())
        for (name, bytes) in embedded {
            #expect(try Data(contentsOf: Self.site.appending(path: name)) == bytes, "\(name)")
            #expect(WebFileType.isName(name), "\(name)")
        }
    }

    @Test("WEB-03 One changed byte, and one changed name, change the digest")
    func digest() throws {
        let files = ["a.js": Data("ab".utf8), "index.html": Data("<p>".utf8)]
        let digest = WebAssets(files).digest
        #expect(digest.wholeMatch(of: /[0-9a-f]{12}/) != nil)
        #expect(WebAssets(files).digest == digest)
        #expect(WebAssets(files.merging(["a.js": Data("ac".utf8)]) { _, new in new }).digest != digest)
        #expect(WebAssets(["b.js": Data("ab".utf8), "index.html": Data("<p>".utf8)]).digest != digest)
    }

    @Test("The shell names the digest in place of its placeholder; other files lose comments and indentation only")
    func placeholder() throws {
        let assets = WebAssets(["index.html": Data("/web/{digest}/a.js".utf8), "a.js": Data("// a\n{digest}".utf8)])
        let shell = try #require(try assets.file("index.html"))
        #expect(String(decoding: shell.bytes, as: UTF8.self) == "/web/\(assets.digest)/a.js")
        #expect(try assets.file("a.js")?.bytes == Data("\n{digest}".utf8))
        #expect(try assets.file("b.js") == nil)
    }

    @Test("WEB-47 The manifest is there in both languages")
    func manifests() throws {
        for (name, words) in [("manifest.webmanifest", "New note"), ("manifest.ru.webmanifest", "Новая заметка")] {
            let manifest = try #require(try WebAssets.embedded.file(name))
            let text = String(decoding: manifest.bytes, as: UTF8.self)
            #expect(text.contains(#"{"name": "\#(words)", "url": "/notes/new"}"#) && !text.contains("|"), "\(name)")
        }
    }

    /// Bytes that a browser receives of files.
    private static func transferred(_ names: Set<String>) throws -> Int {
        let assets = WebAssets.embedded
        return try names.compactMap { try assets.file($0) }
            .map { try $0.compressedBody()?.readableBytes ?? $0.bytes.count }.reduce(0, +)
    }

    /// The modules that a module imports when it is loaded, or when it needs them.
    private static func imports(_ name: String, whenNeeded: Bool) -> [String] {
        let text = String(decoding: WebAssets.embeddedFiles()[name] ?? Data(), as: UTF8.self)
        let found =
            whenNeeded
            ? text.matches(of: #/import\('\./([\w.\-]+)'\)/#).map(\.output.1)
            : text.matches(of: #/(?m)^(?:import|export|\})[^;]*?'\./([\w.\-]+)';/#).map(\.output.1)
        return found.map(String.init)
    }

    /// A module with all that it imports when it is loaded.
    private static func loaded(by name: String) -> Set<String> {
        var (loaded, next): (Set<String>, [String]) = ([], [name])
        while let name = next.popLast() {
            if loaded.insert(name).inserted { next += imports(name, whenNeeded: false) }
        }
        return loaded
    }

    @Test("No script needs one that needs it, at once or later")
    func circles() {
        let names = Set(WebAssets.embeddedFiles().keys.filter { $0.hasSuffix(".js") })
        var (open, done): (Set<String>, Set<String>) = ([], [])
        func visit(_ name: String) {
            guard !done.contains(name) else { return }
            open.insert(name)
            for other in Self.imports(name, whenNeeded: false) + Self.imports(name, whenNeeded: true) {
                #expect(!open.contains(other), "\(name) leads back to \(other)")
                if !open.contains(other) { visit(other) }
            }
            open.remove(name)
            done.insert(name)
        }
        for name in names.sorted() { visit(name) }
        #expect(done.isSuperset(of: ["notes-edit.js", "pdf-reader.js", "shop-list.js", "disk-file.js"]))
    }

    /// The parts of the control room that only a server with a sandbox or a harness makes a browser load.
    private static let toolsOfTests: Set = [
        "status-harness.js", "status-recordings.js", "status-requests.js", "status-rules.js", "status-sandbox.js",
    ]

    /// The modules that the document loads ahead of their importers.
    private static var preloaded: Set<String> {
        let text = String(decoding: WebAssets.embeddedFiles()["index.html"] ?? Data(), as: UTF8.self)
        return Set(text.matches(of: #/modulepreload" href="/web/\{digest\}/([\w.\-]+)"/#).map { String($0.output.1) })
    }

    @Test("WEB-03 A first visit is 70 KB at most, a further page 20 KB, all files 172 KB, and no file 400 lines")
    func budget() throws {
        let names = Set(WebAssets.embeddedFiles().keys)
        #expect(names.isSuperset(of: Self.toolsOfTests))
        #expect(try Self.transferred(names.subtracting(Self.toolsOfTests)) <= 172_000)
        #expect(try Self.transferred(Self.toolsOfTests) <= 16_000)
        for name in names.subtracting(Self.toolsOfTests) {
            let loaded = Self.loaded(by: name).intersection(Self.toolsOfTests)
            #expect(loaded.isEmpty, "\(name) loads \(loaded) everywhere")
        }
        let styles = names.filter { $0.hasSuffix(".css") }
        let core = Self.loaded(by: "main.js").union(Self.preloaded).union(styles).union(["index.html", "icon.svg"])
        #expect(core.isSuperset(of: ["main.js", "dom.js", "api.js"]))
        let pages = names.flatMap { name in Self.imports(name, whenNeeded: true).map { (importer: name, page: $0) } }
        #expect(pages.count > 5)
        for (importer, page) in pages {
            let files = core.union(Self.loaded(by: importer)).union(Self.loaded(by: page))
            #expect(names.isSuperset(of: files), "\(page) imports what is not there")
            let size = try Self.transferred(files)
            #expect(size <= 70_000, "\(page): \(size)")
            let further = Self.loaded(by: page).subtracting(core).subtracting(Self.loaded(by: importer))
            #expect(try Self.transferred(further) <= 20_000, "\(page) after \(importer)")
        }
        for (name, bytes) in WebAssets.embeddedFiles() {
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } <= 400, "\(name)")
        }
    }

    @Test("No file makes elements of text, runs text, or has a style of its own beside the style sheet")
    func forbidden() {
        let words = #/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bstyle=/#
        for (name, bytes) in WebAssets.embeddedFiles() {
            let found = String(decoding: bytes, as: UTF8.self).firstMatch(of: words)
            #expect(found == nil, "\(name): \(found?.output ?? "")")
        }
    }

    @Test("WEB-04 Without JavaScript, the page says so and links to the API")
    func withoutScripts() throws {
        let shell = try #require(try WebAssets.embedded.file("index.html"))
        let text = String(decoding: shell.bytes, as: UTF8.self)
        let part = try #require(text.firstMatch(of: #/(?s)<noscript>(.+?)</noscript>/#)).output.1
        #expect(part.contains("JavaScript") && part.contains(#"href="/v1""#))
    }
}
