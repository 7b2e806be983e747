import Foundation
import TestKit
import Testing

@testable import Server

/// When the certificates of these tests are made.
private let now = Date(timeIntervalSince1970: 1_800_000_000)

@Suite struct ServerCertificateTests {
    /// A folder with an authority and a certificate for `larder.test`.
    private static func folder(in folder: TemporaryFolder, at now: Date = now) throws -> CertificateFolder {
        let made = CertificateFolder(folder.url)
        _ = try made.make(names: [HostName("larder.test")], renews: false, authorityName: "test", now: now)
        return made
    }

    @Test(
        "SRV-14 what is wrong with a certificate or its key is said in a sentence with the file",
        arguments: CertificateFault.all
    )
    func faults(_ fault: CertificateFault) throws {
        let temporary = try TemporaryFolder()
        let folder = try Self.folder(in: temporary)
        try fault.change(folder)
        let error = #expect(throws: CertificateError.self) {
            try ServerCertificate(folder.server, protocols: ["http/1.1"], now: fault.time)
        }
        let text = error?.description ?? ""
        #expect(text.contains(fault.sentence) && text.contains(folder.url.path), "\(text)")
    }

    @Test("A certificate that fits has its names, its end, and whether its key is everybody's")
    func fits() throws {
        let temporary = try TemporaryFolder()
        let folder = try Self.folder(in: temporary)
        let read = try ServerCertificate(folder.server, protocols: [], now: now)
        #expect(read.names.all == ["larder.test"] && !read.isKeyPublic)
        #expect(read.notAfter == now + 397 * 86_400)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.server.key.path)
        #expect(try ServerCertificate(folder.server, protocols: [], now: now).isKeyPublic)
    }

    @Test("SRV-14 a certificate that cannot be served when it is read again leaves the one before it")
    func reload() throws {
        let temporary = try TemporaryFolder()
        let folder = try Self.folder(in: temporary)
        let served = try ServedCertificate(folder.server, protocols: [], now: now)
        let names = [try HostName("other.test")]
        let renewed = try folder.make(names: names, renews: true, authorityName: "test", now: now + 86_400)
        #expect(!renewed.isAuthorityNew && served.current.names.contains("larder.test"))
        try served.reload(now: now + 86_400)
        #expect(served.current.names.all == ["other.test"])
        try Data().write(to: folder.server.key)
        #expect(throws: CertificateError.noPEM(folder.server.key, "private key")) { try served.reload(now: now) }
        #expect(served.current.names.all == ["other.test"])
    }
}

/// A change of a folder, and the sentence about its fault.
struct CertificateFault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sentence: String
    var time = now
    var change: @Sendable (CertificateFolder) throws -> Void = { _ in }

    private static func replace(_ file: URL, by text: String) throws { try Data(text.utf8).write(to: file) }

    static let all = [
        CertificateFault(testDescription: "no certificate", sentence: "/server.crt does not exist") {
            try FileManager.default.removeItem(at: $0.server.certificate)
        },
        CertificateFault(testDescription: "no key", sentence: "/server.key does not exist") {
            try FileManager.default.removeItem(at: $0.server.key)
        },
        CertificateFault(testDescription: "a folder", sentence: "/server.key is not a file") {
            try FileManager.default.removeItem(at: $0.server.key)
            try FileManager.default.createDirectory(at: $0.server.key, withIntermediateDirectories: false)
        },
        CertificateFault(testDescription: "no PEM", sentence: "/server.crt has no certificate in PEM form") {
            try replace($0.server.certificate, by: "\u{0}\u{1}")
        },
        CertificateFault(testDescription: "certificate as key", sentence: "/server.key has no private key in PEM form")
        {
            try FileManager.default.removeItem(at: $0.server.key)
            try FileManager.default.copyItem(at: $0.server.certificate, to: $0.server.key)
        },
        CertificateFault(testDescription: "damaged", sentence: "/server.crt has a certificate that cannot be used") {
            let text = try String(contentsOf: $0.server.certificate, encoding: .utf8)
            try replace($0.server.certificate, by: text.replacing("MII", with: "AAAA"))
        },
        CertificateFault(
            testDescription: "key with passphrase",
            sentence: "server.key needs a passphrase; store it without one"
        ) {
            let text = try String(contentsOf: $0.server.key, encoding: .utf8)
            try replace($0.server.key, by: text.replacing(" PRIVATE KEY", with: " ENCRYPTED PRIVATE KEY"))
        },
        CertificateFault(testDescription: "key of another", sentence: "/server.key is not that of the certificate in ")
        {
            try FileManager.default.removeItem(at: $0.server.key)
            try FileManager.default.copyItem(at: $0.authority.key, to: $0.server.key)
        },
        CertificateFault(
            testDescription: "wrong order",
            sentence: "/server.crt has to begin with the certificate of the server"
        ) {
            let texts = try [$0.authority, $0.server].map { try String(contentsOf: $0.certificate, encoding: .utf8) }
            try replace($0.server.certificate, by: texts.joined())
        },
        CertificateFault(
            testDescription: "expired",
            sentence: "/server.crt has expired on 2028-02-16",
            time: now + 398 * 86_400
        ),
        CertificateFault(
            testDescription: "not yet valid",
            sentence: "/server.crt is not valid before 2027-01-15 (UTC); is the clock right?",
            time: now - 86_400
        ),
        CertificateFault(testDescription: "no names", sentence: "/server.crt has no alternative names (SAN)") {
            folder in
            for (from, to) in [
                (folder.authority.certificate, folder.server.certificate), (folder.authority.key, folder.server.key),
            ] {
                try FileManager.default.removeItem(at: to)
                try FileManager.default.copyItem(at: from, to: to)
            }
        },
    ]
}

@Suite struct CertificateNamesTests {
    private let names = CertificateNames(["larder.test", "*.home.arpa", "192.168.1.5", "fd00::1"])

    @Test("Hosts of a certificate", arguments: ["larder.test", "a.home.arpa", "192.168.1.5", "fd00::1"])
    func contained(_ host: String) {
        #expect(names.contains(host))
    }

    @Test(
        "A wildcard is for one label, and not for none",
        arguments: ["home.arpa", "a.b.home.arpa", "a.larder.test", "arpa", "", "192.168.1.6", "*.larder.test"]
    )
    func foreign(_ host: String) {
        #expect(!names.contains(host))
    }
}

@Suite struct HostNameTests {
    @Test(
        "Names and addresses are taken, in lower case and in their shortest form",
        arguments: [
            ("Larder.Home.arpa", "larder.home.arpa"), ("localhost", "localhost"), ("*.home.arpa", "*.home.arpa"),
            ("192.168.1.5", "192.168.1.5"), ("FD00:0:0::1", "fd00::1"), ("xn--e1afmkfd.test", "xn--e1afmkfd.test"),
        ]
    )
    func taken(text: String, name: String) throws {
        #expect(try HostName(text).text == name)
    }

    @Test(
        "What is neither is refused",
        arguments: ["", "a b", "a..b", ".a", "a.", "-a", "a_b", "a*b", "*", "*.", "http://a", "a:80", "300.1.2.3", "1"]
    )
    func refused(text: String) {
        #expect(throws: CertificateError.unusableName(text)) { try HostName(text) }
    }

    @Test("This machine has names, and no address that is valid on one link only")
    func machine() {
        let names = HostName.ofThisMachine().map(\.text)
        #expect(names.contains("localhost") && names.contains("127.0.0.1") && names.contains("larder.localhost"))
        #expect(!names.contains { $0.hasPrefix("fe80:") } && Set(names).count == names.count)
    }
}

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
