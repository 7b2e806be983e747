import Foundation
import Testing

/// What the first command of the README does on machines of every kind.
@Suite struct SetupTests {
    /// What running needs.
    private static let needed: Set<String> = [
        "libsqlite3-dev", "zlib1g-dev", "pkg-config", "libjpeg-dev", "libqpdf-dev", "libpangocairo-1.0-0",
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
                "chromium", "curl", "libnss3-tools", "node-typescript", "postgresql", "python3-venv", "qpdf",
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
