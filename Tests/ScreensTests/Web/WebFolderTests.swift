import Foundation
import TestKit
import Testing

@testable import Screens

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
