import Foundation
import Testing
import Yams

/// The top of the repository, as newcomers and machines expect it.
@Suite struct LayoutTests {
    @Test("SRV-01 the top level has its files, and the two commands of the README can be run")
    func topLevel() throws {
        for name in ["Package.swift", "Sources", "Tests", "openapi.yaml", "docker", "README.md"] {
            #expect(FileManager.default.fileExists(atPath: Repository.root.appending(path: name).path), "\(name)")
        }
        let readme = try Repository.text("README.md")
        for command in ["script/server", "script/test"] {
            #expect(
                FileManager.default.isExecutableFile(atPath: Repository.root.appending(path: command).path),
                "\(command)"
            )
            #expect(readme.contains(command))
            #expect(try Repository.text(command).contains("script/setup"), "\(command) installs what is missing")
        }
        #expect(try Repository.text(".ci/run").contains("script/test"))
    }

    @Test("SRV-01 all packages have exact versions: direct ones in Package.swift, the others in script/versions.json")
    func pins() async throws {
        let direct = try await PackageManifest.load().packages
        #expect(direct.count > 10)
        for package in direct {
            #expect(package.requirement.exact?.count == 1, "\(package.identity) in Package.swift has no exact version")
        }
        let exact = direct.map { ($0.identity, $0.requirement.exact?.first ?? "") }
        let held = try ResolvedPackages.read("script/versions.json").versions
        let named = held.merging(exact) { _, exact in
            Issue.record("a package is in both lists")
            return exact
        }
        let resolved = try ResolvedPackages.read("Package.resolved").versions
        for identity in Set(named.keys).union(resolved.keys).sorted() {
            #expect(
                named[identity] == resolved[identity],
                "\(identity): not the version that SwiftPM resolved; see docs/decisions/0035-versions.md"
            )
        }
    }

    @Test("SRV-03 the image runs as a user without rights, with a health check and an init")
    func dockerfile() throws {
        let lines = try Repository.text("docker/Dockerfile").split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(lines.filter { $0.hasPrefix("FROM ") }.count >= 2, "built in a stage of its own")
        let user = try #require(lines.last { $0.hasPrefix("USER ") })
        #expect(!user.contains("root") && !user.hasPrefix("USER 0"))
        #expect(lines.contains { $0.hasPrefix("HEALTHCHECK ") })
        #expect(lines.contains { $0.hasPrefix("ENTRYPOINT ") && $0.contains("tini") })
    }

    @Test("SRV-03 compose starts server and sandbox, each with a read-only root and no capabilities")
    func compose() throws {
        let file = try #require(try Yams.load(yaml: Repository.text("docker/compose.yaml")) as? [String: Any])
        let services = try #require(file["services"] as? [String: [String: Any]])
        #expect(Set(services.keys).isSuperset(of: ["larder", "sandbox"]))
        for (name, service) in services {
            #expect(service["read_only"] as? Bool == true, "\(name)")
            #expect(service["cap_drop"] as? [String] == ["ALL"], "\(name)")
            #expect((service["security_opt"] as? [String])?.contains("no-new-privileges:true") == true, "\(name)")
        }
    }
}
