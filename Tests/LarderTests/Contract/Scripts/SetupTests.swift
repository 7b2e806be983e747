import Foundation
import Testing

/// The first command of the README, on machines of every kind.
@Suite struct SetupTests {
    /// Packages that a running server needs.
    private static let needed: Set<String> = [
        "libsqlite3-dev", "zlib1g-dev", "libstemmer-dev", "pkg-config", "libjpeg-dev", "libqpdf-dev",
        "libpangocairo-1.0-0",
        "libvips-tools", "poppler-utils", "fonts-dejavu-core", "fonts-wqy-microhei", "fonts-noto-color-emoji",
    ]
    private static let here = "install ok installed"

    /// All packages that are needed, with these differences.
    private static func packages(_ others: [String: String?] = [:]) -> [String: String] {
        let all = Dictionary(uniqueKeysWithValues: needed.map { ($0, Optional(here)) })
        return all.merging(others) { _, other in other }.compactMapValues(\.self)
    }

    @Test("SRV-01 Nothing is installed, and nothing said, if all packages are there; a held package is there as well")
    func all() async throws {
        let machine = try ScriptMachine(packages: Self.packages(["zlib1g-dev": "hold ok installed"]))
        let outcome = try await machine.run("setup")
        #expect(outcome.code == 0)
        #expect(outcome.output + outcome.errors == "")
        #expect(machine.calls == [])
    }

    @Test("SRV-01 On a new machine, whose dpkg knows none of the packages and fails, all of them are installed")
    func none() async throws {
        let machine = try ScriptMachine()
        let outcome = try await machine.run("setup")
        #expect(outcome.code == 0)
        #expect(machine.calls.first == "apt-get update -qq")
        #expect(machine.installed == Self.needed)
        for package in Self.needed { #expect(outcome.output.contains("installing \(package) (")) }
    }

    @Test("SRV-01 Exactly the packages are installed that are missing or were removed")
    func some() async throws {
        let machine = try ScriptMachine(
            packages: Self.packages(["libqpdf-dev": nil, "pkg-config": "deinstall ok config-files"])
        )
        #expect(try await machine.run("setup").code == 0)
        #expect(machine.installed == ["libqpdf-dev", "pkg-config"])
    }

    @Test("What only the tests need is installed for them")
    func tests() async throws {
        let machine = try ScriptMachine(packages: Self.packages())
        #expect(try await machine.run("setup", "--tests").code == 0)
        #expect(
            machine.installed == [
                "chromium-headless-shell", "curl", "libheif-examples", "libnss3-tools", "node-typescript", "postgresql",
                "python3-venv", "qpdf",
            ]
        )
    }

    @Test("A user who is not root installs through sudo; without it, the script fails and says what root has to run")
    func users() async throws {
        let machine = try ScriptMachine(packages: Self.packages(["libqpdf-dev": nil]))
        #expect(try await machine.run("setup", user: 1000).code == 0)
        #expect(
            machine.calls == [
                "sudo apt-get", "apt-get update -qq", "sudo env",
                "apt-get install -y -qq --no-install-recommends libqpdf-dev",
            ]
        )

        let poor = try ScriptMachine(packages: Self.packages(["libqpdf-dev": nil]), without: ["sudo"])
        let outcome = try await poor.run("setup", user: 1000)
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("apt-get install --no-install-recommends libqpdf-dev"))
        #expect(poor.calls == [])
    }

    @Test("If apt-get fails, so does the script, with what apt-get says", arguments: ["update", "install"])
    func aptFails(command: String) async throws {
        let machine = try ScriptMachine()
        let outcome = try await machine.run("setup", with: ["APT_FAILS": command])
        #expect(outcome.code == 100)
        #expect(outcome.errors == "E: \(command) failed\n")
        #expect(machine.calls.count == (command == "update" ? 1 : 2))
    }

    private static let debian12 = "VERSION_ID=\"12\"\nVERSION=\"12 (bookworm)\"\nID=debian\n"
    private static let decoders: Set<String> = [
        "libheif-plugin-libde265", "libheif-plugin-dav1d", "libheif-plugin-aomdec",
    ]
    private static let note = "note: photos of iPhones with iOS 18 are refused here until "

    @Test("PDF-18 Debian 12 gets libheif of its backports, from the mirror of the machine, and nothing else from there")
    func backports() async throws {
        let machine = try ScriptMachine(packages: Self.packages(), release: Self.debian12)
        let outcome = try await machine.run("setup")
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(machine.installed == Set(Self.decoders.union(["libheif1"]).map { "\($0)/bookworm-backports" }))
        let source = machine.sources.appending(path: "larder-backports.list")
        #expect(
            try String(contentsOf: source, encoding: .utf8) == "deb http://mirror/debian/ bookworm-backports main\n"
        )
        #expect(machine.calls.filter { $0 == "apt-get update -qq" }.count == 2)

        let known = try ScriptMachine(packages: Self.packages(), release: Self.debian12)
        #expect(try await known.run("setup", with: ["HAS_BACKPORTS": "yes"]).code == 0)
        #expect(known.installed == machine.installed && known.calls.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: known.sources.path) == [])

        let complete = Self.packages(Dictionary(uniqueKeysWithValues: Self.decoders.map { ($0, Self.here) }))
        let later = try ScriptMachine(packages: complete, release: Self.debian12)
        #expect(try await later.run("setup").code == 0)
        #expect(later.calls == [])
    }

    @Test("PDF-18 A Debian 12 that cannot get the backports keeps working sources, is told, and goes on")
    func noBackports() async throws {
        let machine = try ScriptMachine(packages: Self.packages(), release: Self.debian12)
        let outcome = try await machine.run("setup", with: ["APT_FAILS_AT": "libheif1/"])
        #expect(outcome.code == 0 && outcome.errors.hasPrefix(Self.note))

        let poor = try ScriptMachine(packages: Self.packages(), release: Self.debian12, without: ["sudo"])
        let refused = try await poor.run("setup", user: 1000)
        #expect(refused.code == 0 && refused.errors.contains("libheif1/bookworm-backports") && poor.calls == [])
    }

    @Test(
        "PDF-18 Releases whose libheif has its decoders in packages get these; others get nothing more",
        arguments: [
            ("ID=debian\nVERSION_ID=\"13\"", true), ("ID=ubuntu\nVERSION_ID=\"24.04\"", true),
            ("ID=ubuntu\nVERSION_ID=\"22.04\"", false), ("ID=debian\nVERSION_ID=\"11\"", false), ("ID=debian", false),
        ]
    )
    func decoders(release: String, hasThem: Bool) async throws {
        let machine = try ScriptMachine(packages: Self.packages(), release: release)
        #expect(try await machine.run("setup").code == 0)
        #expect(machine.installed == (hasThem ? Self.decoders : []))
        #expect(try FileManager.default.contentsOfDirectory(atPath: machine.sources.path) == [])
    }

    @Test("Elsewhere than on Debian and Ubuntu, it says what is needed and does not fail")
    func others() async throws {
        let machine = try ScriptMachine(without: ["dpkg-query", "apt-get"])
        let outcome = try await machine.run("setup")
        #expect(outcome.code == 0)
        #expect(outcome.errors.contains("neither Debian nor Ubuntu"))
        #expect(machine.calls == [])
    }

    @Test("Without Swift, and with an argument that it does not have, it fails and says why")
    func refusals() async throws {
        let bare = try ScriptMachine(without: ["swift"])
        let outcome = try await bare.run("setup")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("https://www.swift.org/install/linux/"))
        #expect(bare.calls == [])

        let wrong = try await ScriptMachine().run("setup", "--test")
        #expect(wrong.code == 64)
        #expect(wrong.errors.contains("--test;"))
    }

    @Test("The versions of all packages are those of the repository, also if the checkout had others")
    func versions() async throws {
        let machine = try ScriptMachine(packages: Self.packages())
        let held = try Repository.text("script/versions.json")
        #expect(try await machine.run("setup").code == 0)
        #expect(try String(contentsOf: machine.resolved, encoding: .utf8) == held)

        // SwiftPM adds packages and revisions, which stay.
        let pin = #"{"identity" : "another",\#n"version" : "1.0.0"},"#
        let more = held.replacing(#""pins" : ["#, with: "\"pins\" : [\n\(pin)")
        try Data(more.utf8).write(to: machine.resolved)
        #expect(try await machine.run("setup").code == 0)
        #expect(try String(contentsOf: machine.resolved, encoding: .utf8) == more)

        let old = held.replacing(#/"version" : "\d/#, with: #""version" : "99"#)
        try #require(old != held)
        try Data(old.utf8).write(to: machine.resolved)
        #expect(try await machine.run("setup").code == 0)
        #expect(try String(contentsOf: machine.resolved, encoding: .utf8) == held)
    }
}
