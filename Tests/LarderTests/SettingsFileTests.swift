import Foundation
import Settings
import TestKit
import Testing

@testable import Larder

@Suite struct SettingsFileTests {
    private func fault(_ path: String) -> String {
        do throws(SettingError) {
            _ = try SettingsFile.entries(path, SettingCatalogue(.standard))
            return "none"
        } catch {
            return error.description.replacing("configuration file \(path): ", with: "")
        }
    }

    /// A few lines that stand for 10^9 values.
    private static let bomb = Data(
        ((1...9).reduce("l0: &l0 [a]\n") { text, level in
            text + "l\(level): &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ","))]\n"
        }).utf8
    )

    @Test(
        "SRV-13 what is wrong with a file of settings is said in the terms of its author",
        arguments: [
            (Data("http:\n  port: 1\n  port: 2\n".utf8), "it has port twice (line 2)"),
            (Data("http: {port: [1]}".utf8), "http.port takes one value and no list"),
            (Data([0xFF, 0xFE]), "it is not a text in UTF-8"),
            (Data("http: {allowed_hosts: [a, b]}".utf8), "none"), (Data(), "none"), (Data("# none\n".utf8), "none"),
            (
                Data("x: &x [a]\nhttp: {allowed_hosts: *x}".utf8),
                "there is no setting x; larder serve --help lists all settings"
            ),
            (SettingsFileTests.bomb, "its aliases stand for too many values (line 5)"),
        ]
    )
    func contents(_ content: Data, expected: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "larder.yaml")
        try content.write(to: file)
        #expect(fault(file.path) == expected)
    }

    @Test("SRV-13 what is large, or nested deep, is refused in a few words")
    func large() throws {
        try contents(Data(repeating: 0x5B, count: 100_000), expected: "it is nested deeper than 128 (line 1)")
        try contents(Data(repeating: 0x20, count: SettingsFile.largest + 1), expected: "it has more than 1048576 bytes")
        let long = String(repeating: "x", count: 1 << 19)
        let shown = String(long.prefix(100))
        let unknown = "there is no setting \(shown); larder serve --help lists all settings"
        try contents(Data("? \(long)\n: 1".utf8), expected: unknown)
    }

    @Test("SRV-13 settings are read from a pipe to its end, as the shell has it for <(command)")
    func pipes() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("http:\n".utf8))
        try pipe.fileHandleForWriting.write(contentsOf: Data("  port: 8081\n".utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        #expect(try SettingsFile.entries(path, SettingCatalogue(.standard)) == ["http.port": "8081"])
    }

    @Test("SRV-13 a file that is not there, and a directory, are named as such")
    func places() throws {
        let folder = try TemporaryFolder()
        #expect(fault("\(folder.url.path)/none.yaml") == "there is no such file")
        #expect(fault(folder.url.path).hasSuffix("a file with settings is expected, and no directory"))
        #expect(fault("/dev/null") == "none" && fault("/dev/zero") == "it has more than 1048576 bytes")
    }
}
