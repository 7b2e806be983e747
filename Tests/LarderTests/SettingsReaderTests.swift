import Foundation
import Logging
import Server
import TestKit
import Testing
import Upstream

@testable import Larder
@testable import Screens
@testable import Ships

@Suite struct SettingsReaderTests {
    private let catalogue = SettingCatalogue(.standard)

    private func read(_ arguments: [String] = [], _ environment: [String: String] = [:], file: String? = nil) throws
        -> LarderConfiguration
    {
        try LarderConfiguration(
            try SettingsReader(arguments: arguments, environment: environment, file: file),
            environment: environment
        )
    }

    @Test("SRV-13 every setting has one name in three spellings, and every name is another")
    func names() throws {
        let setting = try #require(catalogue.setting(key: "upstreams.spacex.connect_timeout_ms"))
        #expect(setting.flag == "--upstreams-spacex-connect-timeout-ms")
        #expect(setting.environmentName == "LARDER_UPSTREAMS_SPACEX_CONNECT_TIMEOUT_MS")
        for names in [catalogue.all.map(\.key), catalogue.all.map(\.flag), catalogue.all.map(\.environmentName)] {
            #expect(Set(names).count == catalogue.all.count)
        }
    }

    @Test("SRV-13 the defaults are those of the contract, and every default is acceptable")
    func defaults() throws {
        let configuration = try read([], ["HOME": "/home/someone"])
        let settings = configuration.settings
        #expect(settings[HTTPSettings.host] == "127.0.0.1" && settings[HTTPSettings.port] == 8080)
        #expect(settings[HTTPSettings.allowedHosts].isEmpty && settings[HTTPSettings.allowedOrigins].isEmpty)
        #expect(configuration.dataDirectory.path == "/home/someone/.local/share/larder")
        let spacex = try #require(configuration.upstreams.byName["spacex"])
        #expect(spacex.baseURL.absoluteString == "https://api.spacexdata.com")
        #expect(
            [spacex.connectTimeout, spacex.totalTimeout, spacex.patience, spacex.probeInterval] == [
                .seconds(3), .seconds(8), .seconds(2), .seconds(5),
            ]
        )
        #expect(settings[ShipsApp.freshness] == .seconds(5))
        #expect(settings[ShipsApp.loginDelay] == .milliseconds(2500) && settings[ShipsApp.deletion] == .hidden)
        #expect(settings[ServerSettings.logLevel] == .info && settings[ServerSettings.logFormat] == .text)
        #expect(settings[ServerSettings.clockStart] == nil)
        for setting in catalogue.all { #expect(setting.value(of: setting.standard ?? "") != nil, "\(setting.key)") }
    }

    @Test("SRV-13 every setting that the sources declare is in the catalogue: one that is not could be read, not set")
    func declared() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var keys: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            keys.formUnion(text.matches(of: /Setting(?:<[^(]*>)?\(\s*"([a-z_.]+)"/).map { String($0.output.1) })
        }
        #expect(keys.contains("ships.login_delay_ms") && keys.contains("session.lifetime_days"))
        #expect(keys.subtracting(catalogue.all.map(\.key)) == [])
    }

    @Test("A value is of its setting's type, in its unit; nothing is one, too; the default is the declaration's")
    func values() {
        let (url, days, size) = (
            Setting("a.url", .url, default: URL(string: "http://a"), ""),
            Setting("a.days", .days(0...9), default: .days(2), ""),
            Setting("a.size_mb", .mebibytes(1...4), default: 3 << 20, "")
        )
        var settings = SettingValues()
        func isSet(_ setting: any SettingDeclaration, to text: String) -> Bool { settings.set(setting, to: text) }
        #expect(settings[url]?.host == "a" && settings[days] == .seconds(172_800) && settings[size] == 3_145_728)
        #expect(url.standard == "http://a" && days.standard == "2" && size.standard == "3")
        #expect(!settings.isSet(url) && isSet(url, to: "") && settings.isSet(url) && settings[url] == nil)
        #expect(isSet(url, to: "https://b//") && settings[url]?.absoluteString == "https://b")
        #expect(isSet(size, to: "1") && settings[size] == 1 << 20)
        for text in ["0", "5", "1.0", " 1", "", "9223372036854775808"] { #expect(!isSet(size, to: text), "\(text)") }
        #expect(settings[size] == 1 << 20)
    }

    @Test("SRV-11 http.public_url is scheme, host and port; its origin is spelled as browsers do")
    func publicURL() throws {
        let cases = [
            ("https://Larder.example", "Larder.example", "https://larder.example"),
            ("https://larder.example:443/", "larder.example", "https://larder.example"),
            ("http://larder.example:8443", "larder.example", "http://larder.example:8443"),
        ]
        for (text, host, origin) in cases {
            let url = try #require(try read(["--http-public-url", text]).publicURL)
            #expect(url.host == host && url.origin == origin, "\(text)")
        }
        #expect(try read().publicURL == nil)
        for text in ["larder.example", "https://larder.example/base", "https://larder.example?a"] {
            #expect(throws: SettingError.self, "\(text)") { try read(["--http-public-url", text]) }
        }
    }

    @Test("TRUST-18 One address has half of all connections unless it is set; trusted proxies are ranges")
    func addresses() throws {
        #expect(try read().connectionsPerAddress(of: 1024) == 512)
        #expect(try read().connectionsPerAddress(of: 128) == 64)
        #expect(try read().connectionsPerAddress(of: 1) == 1)
        #expect(try read(["--http-connections-per-address", "7"]).connectionsPerAddress(of: 1024) == 7)
        let proxies = try read(["--http-trusted-proxies", "10.0.0.0/8, ::1"]).trustedProxies
        #expect(proxies == TrustedProxies(["10.0.0.0/8", "::1"].compactMap { AddressRange($0) }))
        #expect(throws: SettingError.self) { try read(["--http-trusted-proxies", "example.org"]) }
    }

    @Test("SRV-13 command line beats environment beats default; an empty variable counts as not set")
    func precedence() throws {
        let environment = ["LARDER_HTTP_PORT": "1", "LARDER_HTTP_HOST": "", "LARDER_SHIPS_DELETED": "literal"]
        let configuration = try read(["--http-port=2", "--http-allowed-hosts", "a.example, b.example"], environment)
        let settings = configuration.settings
        #expect(settings[HTTPSettings.port] == 2 && settings[HTTPSettings.host] == "127.0.0.1")
        #expect(settings[ShipsApp.deletion] == .literal)
        #expect(settings[HTTPSettings.allowedHosts] == ["a.example", "b.example"])
    }

    @Test("SRV-13 JSON and YAML files are read, also lists, nested keys and nothing at all")
    func files() throws {
        for text in [
            "{\"http\": {\"port\": 3, \"allowed_hosts\": [\"a\", \"b\"]}}",
            "http:\n  port: 3\n  allowed_hosts: [a, b]\n",
            "http.port: 3\nhttp.allowed_hosts: a,b",
        ] {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            let file = folder.url.appending(path: "larder.yaml")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let settings = try read(file: file.path).settings
            #expect(settings[HTTPSettings.port] == 3, "\(text)")
            #expect(settings[HTTPSettings.allowedHosts] == ["a", "b"], "\(text)")
        }
    }

    @Test(
        "SRV-13 what is not acceptable is named with what would be",
        arguments: [
            ("http.port", "65536"), ("http.port", "-1"), ("http.port", "8080 "), ("http.port", "0x10"),
            ("upstreams.spacex.url", "api.example"),
            ("upstreams.spacex.url", "http://user:secret@api.example"),
            ("upstreams.spacex.url", "http://api.example/?key=1"), ("ships.deleted", "Hidden"),
            ("clock.start", "yesterday"), ("clock.start", "10000-01-01T00:00:00Z"),
            ("upstreams.spacex.url", "http://127.0.0.1:99999"), ("upstreams.geocoder.url", "http://[::1]:65536/api"),
            ("upstreams.yandex_oauth.url", "https://oauth.test:0"), ("upstreams.mine.url", "http://api.test:70000"),
            ("upstreams.catalogue.url", "http://[::1]:99999999999999999999"), ("upstreams.people.url", "http://%5B%5D"),
            ("http.allowed_origins", "shop.example"), ("http.allowed_origins", "https://shop.example/"),
            ("http.allowed_hosts", "http://shop.example"),
            ("disk.time_zone", "Moscow"), ("upstreams.spacex.methods", "GET,CONNECT"),
            ("log.level", "loud"), ("upstreams.spacex.total_timeout_ms", "0"), ("freshness.ships_s", "1.5"),
        ]
    )
    func unacceptable(key: String, value: String) throws {
        let setting = try #require(catalogue.setting(key: key))
        #expect(
            throws: SettingError.unacceptable(
                key: key,
                value: value,
                source: "command line \(setting.flag)",
                accepted: setting.accepted
            )
        ) {
            try read([setting.flag, value])
        }
    }

    @Test("The variables of test suites are no settings, so that a server starts in their environment")
    func variablesOfTestSuites() throws {
        for name in ["LARDER_EXECUTABLE", "LARDER_URL", "LARDER_SANDBOX_URL", "LARDER_SPACES"] {
            #expect(try read([], [name: "x", "HOME": "/home/someone"]).settings[HTTPSettings.port] == 8080, "\(name)")
        }
        #expect(throws: SettingError.self) { try read([], ["LARDER_EXECUTABLES": "x", "HOME": "/home/someone"]) }
    }

    @Test("SRV-13 for an unknown setting those with its words at their end or beginning are suggested")
    func relatedNames() throws {
        let flags = SettingCatalogue(.standard).all.map(\.flag)
        let variables = SettingCatalogue(.standard).all.map(\.environmentName)
        let cases = [
            ("--port", flags, "did you mean --http-port or --sandbox-port?"),
            ("LARDER_PORT", variables, "did you mean LARDER_HTTP_PORT or LARDER_SANDBOX_PORT?"),
            ("--data-dir", flags, "did you mean --data-directory?"),
            ("--verbose", flags, "larder settings lists all"),
            ("--upstreams-spacex-flavour", flags, "an upstream has "),
        ]
        for (name, known, hint) in cases {
            let error = SettingError.unknown(name, source: "test", among: known)
            #expect(error.description.contains("there is no setting \(name); \(hint)"), "\(error)")
        }
        #expect(throws: SettingError.unexpected(argument: "lst")) { try read(["lst"]) }
    }

    @Test("SRV-13 a file that has a value for a group, or that is TOML, is refused with what to write")
    func wrongFiles() throws {
        let cases = [
            ("http: 5", "http is a group of settings and has no value; one of them is http.host"),
            ("[http]\nport = 5\n", "it is neither YAML nor JSON (line 2: "),
            ("http = 5", "it has no settings; a setting is written as http: {port: 8081}"),
            ("- http", "it has no settings"),
        ]
        for (text, reason) in cases {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            let file = folder.url.appending(path: "larder.toml")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let error = #expect(throws: SettingError.self) { try read(file: file.path) }
            let description = error?.description ?? ""
            #expect(description.hasPrefix("configuration file \(file.path): \(reason)"), "\(description)")
            #expect(!description.contains("\n"), "\(description)")
        }
    }

    @Test("SRV-13 with the sandbox data has a directory of its own, unless one is named")
    func sandboxDirectory() throws {
        let environment = ["XDG_DATA_HOME": "/data"]
        let reader = try SettingsReader(arguments: [], environment: environment, file: nil)
        #expect(
            try LarderConfiguration(reader, environment: environment, sandbox: true).dataDirectory.path
                == "/data/larder-sandbox"
        )
        let named = try SettingsReader(arguments: ["--data-directory", "/mine"], environment: environment, file: nil)
        #expect(try LarderConfiguration(named, environment: environment, sandbox: true).dataDirectory.path == "/mine")
    }

    @Test("SRV-13 what a command sets is for what is set nowhere, and no file is read for it again")
    func fallbacks() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("log: {level: error}".utf8))
        try pipe.fileHandleForWriting.close()
        let file = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let reader = try SettingsReader(arguments: ["--http-port", "8081"], environment: [:], file: file)
        let values = try reader.with(fallbacks: ["http.port": "0", "data.directory": "/mine"]).values()
        #expect(values[HTTPSettings.port] == 8081 && values[ServerSettings.dataDirectory]?.path == "/mine")
        #expect(values[ServerSettings.logLevel] == .error)
    }

    @Test("SRV-13 the sandbox simulates an upstream whose address is not set, and no other")
    func simulatedUpstreams() throws {
        let reader = try SettingsReader(
            arguments: ["--upstreams-spacex-url", "http://mine.test"],
            environment: [:],
            file: nil
        )
        var configuration = try LarderConfiguration(reader, environment: [:], sandbox: true)
        #expect(configuration.upstreams.byName.mapValues(\.baseURL.absoluteString) == ["spacex": "http://mine.test"])
        for name in ["spacex", "geocoder", "yandex_uploader"] {
            configuration.upstreams.simulate(name, at: try #require(URL(string: "http://127.0.0.1:1/\(name)")))
        }
        #expect(
            configuration.upstreams.byName.mapValues(\.baseURL.absoluteString) == [
                "spacex": "http://mine.test", "geocoder": "http://127.0.0.1:1/geocoder",
            ]
        )
    }

    @Test("SRV-13 origins of browsers and of pages without an address are accepted, and hosts with and without port")
    func originsAndHosts() throws {
        let origins = [
            "https://shop.example:8443", "http://[::1]:3000", "capacitor://localhost", "null", "file://", "*",
        ]
        #expect(
            try read(["--http-allowed-origins", origins.joined(separator: ",")]).settings[HTTPSettings.allowedOrigins]
                == origins
        )
        #expect(
            try read(["--http-allowed-hosts", "larder.local, [fd00::1]:8080,10.0.0.7"]).settings[
                HTTPSettings.allowedHosts
            ]
            .count == 3
        )
    }

    @Test("SRV-03 the compose file has the sandbox simulate every upstream")
    func compose() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let compose = try String(contentsOf: root.appending(path: "docker/compose.yaml"), encoding: .utf8)
        for upstream in AppList.standard.upstreams {
            let setting = try #require(catalogue.setting(key: "upstreams.\(upstream.name).url"))
            #expect(compose.contains("\(setting.environmentName): http://127.0.0.1:9000/\(upstream.name)\n"))
        }
    }

    @Test("docs/configuration.md is what `larder settings --markdown` prints")
    func generatedPage() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        #expect(file == SettingsPage().markdown(), "run: larder settings --markdown > docs/configuration.md")
    }

    @Test("the page of settings names every setting, its default and every upstream")
    func completePage() {
        let page = SettingsPage().markdown()
        for setting in catalogue.all {
            guard let upstream = UpstreamSettings.upstreamName(inKey: setting.key) else {
                #expect(page.contains("| `\(setting.key)` |"), "\(setting.key)")
                continue
            }
            #expect(page.contains("| `\(setting.key.replacing(upstream, with: "NAME"))` |"), "\(setting.key)")
            #expect(page.contains("| `\(upstream)` |"), "\(upstream)")
            if let standard = setting.standard, !standard.isEmpty { #expect(page.contains("`\(standard)`")) }
        }
    }

    @Test("the settings that the help of a command names first exist")
    func first() {
        let known = Set(SettingCatalogue(.standard).all.map(\.key))
        let named = SettingsOptions.firstSettings.flatMap(\.1)
        #expect(Set(named).count == named.count && named.filter { !known.contains($0) } == [])
    }

    @Test("the page of settings has the defaults of an upstream that differ from those of all")
    func ownDefaults() throws {
        let common = Dictionary(uniqueKeysWithValues: UpstreamSettings(named: "").all.map { ($0.key, $0.standard) })
        let differing = catalogue.all.filter { setting in
            guard let upstream = UpstreamSettings.upstreamName(inKey: setting.key) else { return false }
            return common[setting.key.replacing(".\(upstream).", with: "..")] != setting.standard
        }
        let ends = Set(differing.compactMap { $0.key.split(separator: ".").last.map(String.init) })
        #expect(ends == Set(SettingsPage.ownDefaults))
    }
}

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
                "there is no setting x; larder settings lists all"
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
        let unknown = "there is no setting \(shown); larder settings lists all"
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
