import Foundation
import Testing

/// The commands of the README on a new machine: the programs that they call, in which order, and how they end.
@Suite struct ScriptCommandTests {
    @Test("SRV-01 On a new machine, script/server installs what is missing, builds, and serves with the sandbox")
    func server() async throws {
        let machine = try ScriptMachine()
        let outcome = try await machine.run("server", "--quick", "--http-port", "0")
        #expect(outcome.code == 0)
        let calls = machine.calls.map { $0.hasPrefix("apt-get install") ? "apt-get install" : $0 }
        #expect(
            calls == [
                "apt-get update -qq", "apt-get install", "swift build --configuration debug --product larder",
                "swift build --configuration debug --product larder-pdf-worker",
                "swift build --configuration debug --product larder-confine",
                "swift build --configuration debug --show-bin-path", "larder serve --sandbox --http-port 0",
            ]
        )
    }

    @Test("The exit code of the server is that of script/server")
    func serverFails() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("server", "--real", with: ["LARDER_CODE": "78"]).code == 78)
        #expect(machine.calls.last == "larder serve")
    }

    @Test("SRV-01 On a new machine, script/test installs what is missing, then checks, builds and tests")
    func test() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("test").code == 0)
        #expect(machine.installed.contains("qpdf"))
        let calls = machine.calls.filter { $0.hasPrefix("swift") }.map { $0.split(separator: " ").prefix(3) }
        #expect(
            calls == [
                ["swift", "format", "lint"], ["swift", "build", "--build-tests"], ["swift", "test", "--skip-build"],
            ]
        )
    }

    private static let installing = "python3 install --quiet --disable-pip-version-check --require-hashes -r"

    @Test("HARN-28 script/test generates clients: pinned generators, installed once; their failure fails it")
    func clients() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("test").code == 0)
        #expect(try await machine.run("test-clients").code == 0)
        let calls = machine.calls.filter { $0.hasPrefix("python3") && $0.contains(/\/(clients|Clients\/(check|req))/) }
        #expect(
            calls == [
                "python3 -m venv .build/clients", "\(Self.installing) Tests/Clients/requirements.txt",
                "python3 -B Tests/Clients/check.py", "python3 -B Tests/Clients/check.py",
            ]
        )
        #expect(try await machine.run("test", with: ["PYTHON_CODE": "3"]).code == 3)
    }

    @Test("HARN-31 script/test runs the suites of test authors: pinned tools, installed once; their failure fails it")
    func harness() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("test").code == 0)
        #expect(try await machine.run("test-harness", "3").code == 0)
        let calls = machine.calls.filter { $0.hasPrefix("python3") && $0.contains(/\/harness|pytest\//) }
        #expect(
            calls == [
                "python3 -m venv .build/harness", "\(Self.installing) Tests/Clients/pytest/requirements.txt",
                "python3 -B Tests/Clients/harness.py", "python3 -B Tests/Clients/harness.py 3",
            ]
        )
        #expect(try await machine.run("test-harness", with: ["PYTHON_CODE": "1"]).code == 1)
        #expect(try await machine.run("test-harness", "thrice").code == 64)
    }

    @Test("script/test tests the front end in a browser: pinned tools, installed once; a failing test fails it")
    func web() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("test").code == 0)
        #expect(machine.installed.contains("chromium-headless-shell"))
        #expect(try await machine.run("test-web", "test_ships", "web_09").code == 0)
        let calls = machine.calls.filter { $0.hasPrefix("python3") && $0.lowercased().contains("web") }
        #expect(
            calls == [
                "python3 -m venv .build/web-venv", "\(Self.installing) Tests/Web/requirements.txt",
                "python3 -B -m pytest --engines chromium --numprocesses 2 --dist worksteal --matching  Tests/Web",
                "python3 -B -m pytest --engines chromium --numprocesses 2 --dist worksteal --matching "
                    + "test_ships|web_09 Tests/Web",
            ]
        )
        #expect(try await machine.run("test-web", with: ["PYTHON_CODE": "1"]).code == 1)
        let none = try await machine.run("test-web", "test_shipps", with: ["PYTHON_CODE": "5"])
        #expect(none.code == 64)
        #expect(none.errors.contains("No test matches test_shipps"))
    }

    @Test("Nothing is built on a machine that lacks what building needs", arguments: ["test", "server"])
    func incomplete(script: String) async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run(script, with: ["APT_FAILS": "install"]).code == 100)
        #expect(machine.calls.allSatisfy { !$0.hasPrefix("swift") })
    }

    @Test("script/test NAME runs the tests of that name; it fails if one fails, and if there is none")
    func named() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("test", "ShipsTests").code == 0)
        #expect(machine.calls.last?.hasSuffix("--filter ShipsTests") == true)
        #expect(try await machine.run("test", "ShipsTests", with: ["TEST_CODE": "1"]).code == 1)
        let none = try await machine.run("test", "Shipps", with: ["TEST_OUTPUT": "Test run with 0 tests"])
        #expect(none.code == 64)
        #expect(none.errors.contains("No test matches Shipps"))
    }

    @Test("script/format --check fails on a comment that ends after 120 characters, and if it cannot look at the files")
    func format() async throws {
        let machine = try ScriptMachine()
        #expect(try await machine.run("format", "--check").code == 0)
        try machine.write("// " + String(repeating: "é", count: 118), to: "Sources/Long.swift")
        let outcome = try await machine.run("format", "--check")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("Sources/Long.swift:1:") && outcome.errors.contains("120 characters"))
        let front = try ScriptMachine()
        try front.write(String(repeating: "é", count: 121), to: "Sources/CWebAssets/site/long.js")
        #expect(try await front.run("format", "--check").errors.contains("site/long.js:1:"))
        #expect(try await ScriptMachine(without: ["Sources/CWebAssets/site"]).run("format", "--check").code == 1)
    }

    @Test(
        "Each script explains itself and ends well",
        arguments: [
            "setup", "test", "server", "build", "format", "check", "test-clients", "test-harness", "test-web",
            "screenshots",
        ]
    )
    func help(script: String) async throws {
        let outcome = try await ScriptMachine().run(script, "--help")
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("script/\(script)"))
    }
}
