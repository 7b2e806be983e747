import Foundation
import Testing
import Yams

/// What stands at the top of the repository, as newcomers and machines expect it.
@Suite struct LayoutTests {
    private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test("SRV-01 the top level holds what the design card lists, and the two commands of the README can be run")
    func topLevel() throws {
        for name in ["Package.swift", "Sources", "Tests", "openapi.yaml", "docker", "README.md"] {
            #expect(FileManager.default.fileExists(atPath: root.appending(path: name).path), "\(name)")
        }
        let readme = try text("README.md")
        for command in ["script/server", "script/test"] {
            #expect(FileManager.default.isExecutableFile(atPath: root.appending(path: command).path), "\(command)")
            #expect(readme.contains(command))
            #expect(try text(command).contains("script/setup"), "\(command) installs what is missing")
        }
        #expect(try text(".ci/run").contains("script/test"))
    }

    @Test("SRV-01 direct dependencies are pinned: Package.resolved stays out of git")
    func pins() throws {
        let packages = try text("Package.swift").split(separator: "\n").filter { $0.contains(".package(url:") }
        #expect(packages.count > 10)
        #expect(packages.allSatisfy { $0.contains("exact: \"") }, "\(packages.filter { !$0.contains("exact:") })")
    }

    @Test("SRV-03 the image runs as somebody without rights, with a health check and an init")
    func dockerfile() throws {
        let lines = try text("docker/Dockerfile").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.filter { $0.hasPrefix("FROM ") }.count >= 2, "built in a stage of its own")
        let user = try #require(lines.last { $0.hasPrefix("USER ") })
        #expect(!user.contains("root") && !user.hasPrefix("USER 0"))
        #expect(lines.contains { $0.hasPrefix("HEALTHCHECK ") })
        #expect(lines.contains { $0.hasPrefix("ENTRYPOINT ") && $0.contains("tini") })
    }

    @Test("SRV-03 compose starts server and sandbox, each with a read-only root and no capabilities")
    func compose() throws {
        let file = try #require(try Yams.load(yaml: text("docker/compose.yaml")) as? [String: Any])
        let services = try #require(file["services"] as? [String: [String: Any]])
        #expect(Set(services.keys).isSuperset(of: ["larder", "sandbox"]))
        for (name, service) in services {
            #expect(service["read_only"] as? Bool == true, "\(name)")
            #expect(service["cap_drop"] as? [String] == ["ALL"], "\(name)")
            #expect((service["security_opt"] as? [String])?.contains("no-new-privileges:true") == true, "\(name)")
        }
    }
}
