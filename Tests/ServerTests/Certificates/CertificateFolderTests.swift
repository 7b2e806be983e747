import Foundation
import TestKit
import Testing

@testable import Server

@Suite struct CertificateFolderTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func make(_ folder: CertificateFolder, _ names: [String]?, renews: Bool = false, now: Date = now) throws
        -> CertificateFolder.Made
    {
        let names = try names?.map { try HostName($0) }
        return try folder.make(names: names, renews: renews, authorityName: "test", now: now)
    }

    private func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    private func contents(_ folder: CertificateFolder) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        return try names.reduce(into: [:]) { $0[$1] = try Data(contentsOf: folder.url.appending(path: $1)) }
    }

    @Test("SRV-14 keys are for their owner only, and nothing else is left in the folder")
    func modes() throws {
        let temporary = TemporaryFolder.unmade()
        let folder = CertificateFolder(temporary.url)
        let made = try make(folder, ["larder.test", "192.168.1.5", "FD00::1"])
        #expect(made.isAuthorityNew && made.names == ["larder.test", "192.168.1.5", "fd00::1"])
        #expect(made.fingerprint.split(separator: ":").count == 32)
        #expect(try mode(folder.authority.key) == 0o600 && mode(folder.server.key) == 0o600)
        #expect(try mode(folder.authority.certificate) == 0o644)
        #expect(Set(try contents(folder).keys) == ["authority.crt", "authority.key", "server.crt", "server.key"])
    }

    @Test("SRV-14 what a folder has is served at once")
    func served() throws {
        let temporary = TemporaryFolder.unmade()
        let (folder, now) = (CertificateFolder(temporary.url), Self.now)
        let made = try folder.make(names: [HostName("larder.test")], renews: false, authorityName: "Larder", now: now)
        let served = try ServerCertificate(folder.server, protocols: ["http/1.1"], now: now)
        #expect(made.isAuthorityNew && served.names.contains("larder.test"))
    }

    @Test("SRV-14 what is there is not replaced, unless the certificate is to be renewed; the authority never is")
    func replaced() throws {
        let temporary = TemporaryFolder.unmade()
        let folder = CertificateFolder(temporary.url)
        _ = try make(folder, ["larder.test"])
        let first = try contents(folder)
        #expect(throws: CertificateError.exists(folder.server.certificate)) { try make(folder, ["larder.test"]) }
        #expect(try contents(folder) == first)

        // Also one that has expired has names.
        let renewed = try make(folder, nil, renews: true, now: Self.now + 500 * 86_400)
        #expect(renewed.names == ["larder.test"] && !renewed.isAuthorityNew)
        let second = try contents(folder)
        #expect(second["authority.crt"] == first["authority.crt"] && second["authority.key"] == first["authority.key"])
        #expect(second["server.crt"] != first["server.crt"] && second["server.key"] != first["server.key"])
        #expect(try make(folder, ["other.test"], renews: true).names == ["other.test"])
    }

    @Test("An authority without its key issues nothing, and is not replaced by another")
    func halfAuthority() throws {
        let temporary = TemporaryFolder.unmade()
        let folder = CertificateFolder(temporary.url)
        _ = try make(folder, ["larder.test"])
        try FileManager.default.removeItem(at: folder.authority.key)
        let before = try contents(folder)
        #expect(throws: CertificateError.unreadable(folder.authority.key, "does not exist")) {
            try make(folder, nil, renews: true)
        }
        #expect(try contents(folder) == before)
    }

    @Test("A certificate does not outlive its authority")
    func end() throws {
        let temporary = TemporaryFolder.unmade()
        let folder = CertificateFolder(temporary.url)
        _ = try make(folder, ["larder.test"])
        let late = try make(folder, nil, renews: true, now: Self.now + 3600 * 86_400)
        #expect(late.notAfter == Self.now + 3650 * 86_400)
    }
}

struct PrivateFileTests {
    private func mode(of url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test("a file is for its owner only, and replaces another one on request only")
    func replacing() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appending(path: "secret")
        let file = PrivateFile(at: url, Data("first".utf8))
        try file.write(replaces: false)
        let failure = #expect(throws: PrivateFile.Failure.self) { try file.write(replaces: false) }
        #expect(failure == .exists(url))
        #expect(try Data(contentsOf: url) == Data("first".utf8) && mode(of: url) == 0o600)
        try PrivateFile(at: url, Data("second".utf8), mode: 0o640).write(replaces: true)
        #expect(try Data(contentsOf: url) == Data("second".utf8) && mode(of: url) == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["secret"])
    }

    @Test("of files that belong together none is there if one cannot be written")
    func together() throws {
        let folder = try TemporaryFolder()
        let files = ["a", "none/b"].map { PrivateFile(at: folder.url.appending(path: $0), Data("x".utf8)) }
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.write(files, replaces: true) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
