import Foundation
import Storage
import TestKit
import Testing

@testable import Screens

@Suite("Archives") struct ZipArchiveTests {
    /// Returns an archive as Python reads it: a line for each entry with its name and its bytes in hexadecimal.
    private static func read(_ archive: Data) async throws -> [String] {
        let folder = try TemporaryFolder()
        let (file, list) = (folder.url.appending(path: "a.zip"), folder.url.appending(path: "list"))
        try archive.write(to: file)
        let script = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            with open(sys.argv[2], 'w', encoding='utf-8') as out:
                for entry in archive.infolist():
                    print(entry.filename, archive.read(entry).hex(), sep='|', file=out)
            """
        try await RunningProcess.output(of: "python3", ["-c", script, file.path, list.path])
        return try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("TRUST-25 names of many files of one name take linear time", .timeLimit(.minutes(1)))
    func names() {
        var names = FileNames()
        let found = (0..<50_000).map { names.unused($0.isMultiple(of: 2) ? "Report" : "REPORT", ending: "pdf") }
        #expect(found.prefix(2) == ["Report.pdf", "REPORT (2).pdf"] && found.last == "REPORT (50000).pdf")
        #expect(names.unused("Report (7)", ending: "pdf") == "Report (7) (2).pdf")
        #expect(names.unused("Report", ending: "txt") == "Report.txt")
    }

    @Test(
        "SRV-18 Python reads what was added, with the length that was said, also with fields of 64 bits",
        arguments: [UInt64(0xFFFF_FFFF), 1000, 1]
    )
    func roundTrip(limit: UInt64) async throws {
        let database = try LarderDatabase.temporary()
        let scratch = try ScratchFolder("uploads", in: database.directory)
        var random = SeededRandom(seed: 18)
        let noise = Data((0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        let blobs = try [noise, Data("short".utf8), Data()].map { try database.blobs.write($0) }
        let archive = ZipArchive(in: scratch, blobs: database.blobs, modified: Date(timeIntervalSince1970: 1.75e9))
        let text = try archive.text()
        for number in 0..<40_000 { try text.append("line \(number) Ω\n") }
        try archive.add(text, as: "a/текст.txt")
        for blob in blobs {
            _ = try archive.add(blob, in: "b", name: "Ångström/1", ending: "pdf", modified: .distantPast)
        }
        // A file that another server has.
        let lacking = try database.blobs.write(noise)
        database.blobs.discard(lacking)
        let path = try archive.add(lacking, in: "b", name: "Ångström/1", ending: "pdf", modified: .now)
        #expect(path == "b/Ångström_1 (4).pdf")
        try await archive.open { blob in
            #expect(blob == lacking)
            return FileContent(bytes: noise, type: "application/pdf", version: "1")
        }
        try archive.add(json: ["key": 1], as: "manifest.json", level: 0)
        let content = archive.finished(ZipFormat(limit: limit))
        // A document that is deleted meanwhile is sent as it was.
        for blob in blobs { database.blobs.discard(blob) }
        var bytes = Data()
        try await content.write { bytes += $0 }
        #expect(bytes.count == content.length)
        let lines = (0..<40_000).map { "line \($0) Ω\n" }.joined()
        #expect(
            try await Self.read(bytes) == [
                "a/текст.txt|" + Self.hex(lines.utf8), "b/Ångström_1.pdf|" + Self.hex(noise),
                "b/Ångström_1 (2).pdf|" + Self.hex("short".utf8), "b/Ångström_1 (3).pdf|",
                "b/Ångström_1 (4).pdf|" + Self.hex(noise),
                "manifest.json|" + Self.hex(#"{"key":1}"#.utf8),
            ]
        )
    }

    @Test("SRV-18 An empty archive can be read, and one of more entries than 16 bits count", arguments: [0, 65_600])
    func counts(entries: Int) async throws {
        let format = ZipFormat()
        var (bytes, directory) = (Data(), Data())
        for number in 0..<entries {
            let entry = ZipFormat.Entry(
                name: "\(number)",
                method: .stored,
                modified: .now,
                length: 0,
                packedLength: 0,
                offset: UInt64(bytes.count)
            )
            bytes += format.localHeader(entry)
            directory += format.directoryHeader(entry)
        }
        let end = format.end(count: entries, directoryAt: UInt64(bytes.count), length: UInt64(directory.count))
        #expect(try await Self.read(bytes + directory + end).count == entries)
    }
}

@Suite("Names of files") struct FileNamesTests {
    @Test(
        "SRV-18 A name is one that Windows, macOS and Linux take",
        arguments: [
            ("Passport", "Passport"), ("a/b\\c:d*e?f\"g<h>i|j", "a_b_c_d_e_f_g_h_i_j"), ("..", "_"), (" .a. ", "a"),
            ("con", "_con"), ("LPT1.x", "_LPT1.x"), ("a\u{202E}fdp.b", "a_fdp.b"), ("\u{7}", "_"), ("й", "й"),
        ]
    )
    func safe(name: String, expected: String) {
        #expect(FileNames.safe(name) == expected)
    }

    @Test("SRV-18 No two names differ in case or form only, and none is too long")
    func unused() {
        var names = FileNames()
        #expect(names.unused("Über", ending: "pdf") == "Über.pdf")
        #expect(names.unused("U\u{308}BER", ending: "pdf") == "ÜBER (2).pdf")
        #expect(names.unused("über", ending: "pdf") == "über (3).pdf")
        let long = String(repeating: "я", count: 300)
        for _ in 1...2 {
            let name = names.unused(long, ending: "pdf")
            #expect(name.utf8.count <= FileNames.longest && name.hasSuffix(".pdf"))
        }
    }
}
