import Foundation
import Screens
import Testing
import Yams

@testable import Larder

/// The systemd unit and the compose file, compared with the defaults of the settings.
@Suite struct DeploymentTests {
    private static let mebibyte = 1 << 20
    /// Bytes of the server without its children: the response cache, the buffers of requests, and the runtime.
    private static let serverBytes = 512 * mebibyte

    private func standard(_ key: String) throws -> Int {
        let setting = try #require(SettingCatalogue(.standard).all.first { $0.key == key }, "\(key)")
        return try #require(setting.standard.flatMap { Int($0) }, "\(key)")
    }

    /// Most bytes of all children that run at a time and the server. LibreOffice is optional and has its own note.
    private func mostBytes() throws -> Int {
        let limits = try ["vips", "pdftoppm", "pdf_worker"].map { try standard("media.\($0)_memory_mb") }
        return (try standard("media.children") + 1) * (limits.max() ?? 0) * Self.mebibyte + Self.serverBytes
    }

    /// Seconds until a stop that hangs is over: the time for requests, and 5 seconds that the server takes after it.
    private func longestStop() throws -> Double { Double(try standard("http.stop_timeout_ms")) / 1000 + 5 }

    private func bytes(_ text: String) throws -> Int {
        let units: [Character: Int] = ["m": 1 << 20, "M": 1 << 20, "g": 1 << 30, "G": 1 << 30]
        let unit = try #require(text.last.flatMap { units[$0] }, "\(text)")
        return try #require(Int(text.dropLast())) * unit
    }

    @Test("TRUST-22 compose restarts what ended; memory and time to stop fit the server's limits; no image is fetched")
    func compose() throws {
        let file = try #require(try Yams.load(yaml: Repository.text("docker/compose.yaml")) as? [String: Any])
        let services = try #require(file["services"] as? [String: [String: Any]])
        for (name, service) in services {
            #expect(service["restart"] as? String == "unless-stopped", "\(name)")
            #expect(service["pull_policy"] as? String == "build" && service["build"] != nil, "\(name)")
            let grace = try #require((service["stop_grace_period"] as? String)?.dropLast())
            #expect(try #require(Double(grace)) > longestStop(), "\(name)")
            #expect(service["mem_limit"] != nil, "\(name)")
        }
        let limit = try #require(services["larder"]?["mem_limit"] as? String)
        #expect(try bytes(limit) >= mostBytes())
    }

    @Test("TRUST-22 the systemd unit restarts, has limits that fit, and lets children confine themselves")
    func unit() throws {
        let unit = try SystemdUnit("deploy/systemd/larder.service")
        #expect(unit["Service", "Type"] == ["exec"] && unit["Service", "Restart"] == ["on-failure"])
        #expect(unit["Service", "ExecStart"] == ["/usr/local/bin/larder serve"])
        #expect(try bytes(try #require(unit["Service", "MemoryMax"].first)) >= mostBytes())
        // By default a child that is killed for memory would stop the service.
        #expect(unit["Service", "OOMPolicy"] == ["continue"])
        let stop = try #require(unit["Service", "TimeoutStopSec"].first.flatMap { Double($0) })
        #expect(try stop > longestStop())
        let calls = unit["Service", "SystemCallFilter"].first ?? ""
        for call in ["@system-service", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"] {
            #expect(calls.split(separator: " ").contains(call[...]), "\(call)")
        }
        // The codes of settings that are not acceptable, which no restart changes.
        #expect(unit["Service", "RestartPreventExitStatus"] == ["64 78"])
        #expect(unit["Service", "UMask"] == ["0077"] && unit["Service", "ProtectSystem"] == ["strict"])
        let variables = unit["Service", "Environment"].compactMap { $0.split(separator: "=").first }
        let known = SettingCatalogue(.standard)
        for variable in variables { #expect(known.setting(environmentName: String(variable)) != nil, "\(variable)") }
        #expect(unit["Install", "WantedBy"] == ["multi-user.target"])
    }

    @Test("C10 package and image offer libpq; the package has the files of docs/scale.md, units a folder for each")
    func severalProcesses() throws {
        let suggested = try Repository.text("deploy/debian/control").firstMatch(of: /\nSuggests:.*\blibpq5\b/)
        #expect(try suggested != nil && Repository.text("docker/Dockerfile").contains(" libpq5 "))
        let page = try Repository.text("docs/scale.md")
        #expect(page.contains("libpq5") && page.contains("/var/lib/larder@n1"))
        let copying = try #require(try Repository.text("script/package").firstMatch(of: /deploy\/\{([a-z,]+)\} "\$doc/))
        let named = Set(page.matches(of: /deploy\/([a-z]+)\//).map { String($0.1) })
        #expect(named == Set(copying.1.split(separator: ",").map(String.init)))
        let unit = try SystemdUnit("deploy/systemd/larder.service")
        #expect(unit["Service", "StateDirectory"] == ["%N"])
        #expect(unit["Service", "Environment"].contains("LARDER_DATA_DIRECTORY=%S/%N"))
    }

    @Test("Units are parsed with sections, repeated keys and comments")
    func parsing() {
        let unit = SystemdUnit(text: "# c\n[A]\nx=1\nx = 2=3\n; c\n\n[B]\nx=4\n")
        #expect(unit["A", "x"] == ["1", "2=3"] && unit["B", "x"] == ["4"] && unit["B", "y"] == [])
    }
}

/// A unit of systemd: the values of its keys, by section.
private struct SystemdUnit {
    private var values: [String: [String]] = [:]

    init(_ path: String) throws {
        self.init(text: try Repository.text(path))
    }

    init(text: String) {
        var section = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                section = line.trimmingCharacters(in: ["[", "]", " "])
            } else if !line.hasPrefix("#"), !line.hasPrefix(";"), let equals = line.firstIndex(of: "=") {
                let key = line[..<equals].trimmingCharacters(in: .whitespaces)
                let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
                values["\(section)/\(key)", default: []].append(value)
            }
        }
    }

    subscript(section: String, key: String) -> [String] { values["\(section)/\(key)"] ?? [] }
}
