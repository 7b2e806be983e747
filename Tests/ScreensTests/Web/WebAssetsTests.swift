import Foundation
import HTTPTypes
import NIOCore
import TestKit
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

    @Test("WEB-03 A first visit is 70 KB at most, a further page 20 KB, all files 176 KB, and no file 400 lines")
    func budget() throws {
        let names = Set(WebAssets.embeddedFiles().keys)
        #expect(names.isSuperset(of: Self.toolsOfTests))
        #expect(try Self.transferred(names.subtracting(Self.toolsOfTests)) <= 176_000)
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

@Suite struct WebFolderTests {
    private let folder: TemporaryFolder
    private let outside: TemporaryFolder

    init() throws {
        (folder, outside) = (try TemporaryFolder(), try TemporaryFolder())
        try Data("shell".utf8).write(to: folder.url.appending(path: "index.html"))
        try Data("secret".utf8).write(to: outside.url.appending(path: "secret.js"))
    }

    @Test("A file is read again each time, and is not found once it is removed")
    func changes() throws {
        let files = try WebFolder(folder.url)
        let path = folder.url.appending(path: "main.js")
        #expect(try files.file("main.js") == nil)
        try Data("1".utf8).write(to: path)
        #expect(try files.file("main.js") == Data("1".utf8))
        try Data("22".utf8).write(to: path)
        #expect(try files.file("main.js") == Data("22".utf8))
        try FileManager.default.removeItem(at: path)
        #expect(try files.file("main.js") == nil)
    }

    @Test("Nothing outside of the folder is read: by no link, and by no name")
    func outsideOfTheFolder() throws {
        let manager = FileManager.default
        let secret = outside.url.appending(path: "secret.js")
        try manager.createSymbolicLink(at: folder.url.appending(path: "link.js"), withDestinationURL: secret)
        try manager.createDirectory(at: folder.url.appending(path: "sub.js"), withIntermediateDirectories: true)
        try Data("hidden".utf8).write(to: folder.url.appending(path: ".hidden.js"))
        try Data("other".utf8).write(to: folder.url.appending(path: "notes.bak"))
        let files = try WebFolder(folder.url)
        let relative = "../\(outside.url.lastPathComponent)/secret.js"
        let names = ["link.js", "sub.js", ".hidden.js", "notes.bak", "..", "", "index.html\0.js"]
        for name in names + [relative, secret.path] {
            #expect(try files.file(name) == nil, "\(name)")
        }
    }

    @Test("Names are small letters, digits, dots and hyphens, at most 64, and end as a type of file does")
    func names() {
        for name in ["a.js", "1.css", "a-b.min.js", String(repeating: "a", count: 61) + ".js"] {
            #expect(WebFileType.isName(name), "\(name)")
        }
        let long = String(repeating: "a", count: 62) + ".js"
        for name in ["", "A.js", ".js", "-a.js", "a b.js", "ä.js", "a/b.js", "a.js\n", "a.exe", "a.", long] {
            #expect(!WebFileType.isName(name), "\(name)")
        }
    }

    @Test("A pipe is no file, and is not waited for")
    func pipe() throws {
        try #require(mkfifo(folder.url.appending(path: "pipe.js").path, 0o600) == 0)
        #expect(try WebFolder(folder.url).file("pipe.js") == nil)
    }

    @Test("A folder that is not there, is a file, or has no shell cannot be used, which is said with its path")
    func unusable() throws {
        let shell = folder.url.appending(path: "index.html")
        for url in [folder.url.appending(path: "missing"), shell, outside.url] {
            let error = #expect(throws: WebFolder.Unusable.self) { _ = try WebFolder(url) }
            #expect(error?.description.contains(url.path) == true)
        }
    }
}

@Suite struct WebCommentsTests {
    @Test(
        "Lines of comments become empty, all others lose their indentation only",
        arguments: [
            ("// a\nb // c\n  // d\n", "\nb // c\n\n"),
            ("/** a\n * b; */\nc /* d */\n", "\n\nc /* d */\n"),
            ("/* a */\n  /* b\n\n  c */\nd\n", "\n\n\n\nd\n"),
            ("a\n\n  '//'  \n*/\n", "a\n\n'//'  \n*/\n"), ("  \n\ta\n", "\n\ta\n"),
            ("", ""), ("//", ""), ("a\n// b", "a\n"), ("/* a", ""), ("// é\né", "\né"),
        ]
    )
    func lines(text: String, rest: String) {
        #expect(String(decoding: WebComments.removed(from: Data(text.utf8)), as: UTF8.self) == rest)
    }

    @Test(
        "A style sheet keeps the white space that has a meaning",
        arguments: [
            (
                ".a  .b,\n.c :is(.d, e) {\n  f: g h;\n}\n\n@media (i: j) and (k: l) { m { n: calc(1px + 2px); } }\n",
                ".a .b,.c :is(.d,e){f:g h;}@media (i:j) and (k:l){m{n:calc(1px + 2px);}}"
            ),
            ("a::before { content: \" · \"; }", "a::before{content:\" · \";}"), ("", ""), (" ", ""),
            ("a { b: \"c;  d \\\" { e\"; f: ', g' }", "a{b:\"c;  d \\\" { e\";f:', g'}"),
        ]
    )
    func spaces(sheet: String, rest: String) {
        #expect(String(decoding: WebComments.withoutSpaces(Data(sheet.utf8)), as: UTF8.self) == rest)
    }

    @Test("In the files, nothing that looks like a comment of its own is in a string, and none is followed by code")
    func files() {
        for (name, bytes) in WebAssets.embeddedFiles() where name.hasSuffix(".js") || name.hasSuffix(".css") {
            let text = String(decoding: bytes, as: UTF8.self)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let isOpen = line.count { $0 == "`" } % 2 == 1 || line.contains(#/^\s*\/\*.*\*\/\s*\S|\\$/#)
                #expect(!isOpen, "\(name):\(number + 1)")
            }
            let rest = String(decoding: WebComments.removed(from: bytes), as: UTF8.self)
            #expect(rest.count { $0 == "\n" } == text.count { $0 == "\n" } && !rest.contains(#/(?m)^ *(\/\/|\/\*)/#))
        }
    }
}

@Suite struct WebPolicyTests {
    private static func scripts(_ authority: String?, publicOrigin: String? = nil) -> Substring? {
        let policy = WebPolicy(publicOrigin: publicOrigin).fields(authority: authority)[.contentSecurityPolicy] ?? ""
        return policy.split(separator: "; ").first { $0.hasPrefix("script-src ") }?.dropFirst("script-src ".count)
    }

    @Test("Code comes from the folder of files only, at the host that is requested and at that of a proxy")
    func sources() {
        #expect(Self.scripts("localhost:8080") == "http://localhost:8080/web/")
        #expect(
            Self.scripts("10.0.0.7", publicOrigin: "https://larder.example")
                == "http://10.0.0.7/web/ https://larder.example/web/"
        )
    }

    @Test("Hosts with labels, digits and hyphens are named as they are", arguments: ["a-1.b2.example:1", "1.2.3.4"])
    func hosts(_ authority: String) { #expect(Self.scripts(authority) == "http://\(authority)/web/") }

    @Test("SRV-14 With a certificate code comes by https only")
    func secure() {
        let policy = WebPolicy(publicOrigin: nil, scheme: "https").fields(authority: "a:8443")[.contentSecurityPolicy]
        #expect(policy?.contains("script-src https://a:8443/web/;") == true)
        #expect(policy?.contains("http:") == false)
    }

    @Test(
        "A host that a policy cannot have, as an IPv6 address, does not become part of it",
        arguments: [
            "[::1]:8080", "localhost.:8080", "a;b", "a b", "a, b", "*", "*.example", "", ":8080", "a:", "a:b", "a:1:2",
            "a..b", ".a", "ä.example", nil,
        ]
    )
    func otherHosts(_ authority: String?) {
        #expect(Self.scripts(authority) == "'self'")
    }
}
