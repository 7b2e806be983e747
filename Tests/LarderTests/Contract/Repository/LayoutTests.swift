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
                "\(identity): not the version that SwiftPM resolved; see docs/decisions/0034"
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
        // A server with a certificate redirects requests in clear text.
        let check = try #require(lines.first { $0.hasPrefix("CMD curl") })
        #expect(check.contains(" --location ") && check.contains(" --insecure ") && check.contains("/health/ready"))
        #expect(lines.contains { $0.hasPrefix("ENTRYPOINT ") && $0.contains("tini") })
    }

    @Test("SRV-03 the build of the image has all files that it copies and all that sources embed, past its ignore file")
    func imageSources() throws {
        let copied = try Repository.text("docker/Dockerfile").split(separator: "\n")
            .filter { $0.hasPrefix("COPY ") && !$0.contains("--from=") }
            .flatMap { $0.split(separator: " ").dropFirst().dropLast() }
            .map { String($0).replacing(/^\.\//, with: "") }
        #expect(Set(copied).isSuperset(of: ["Package.swift", "Sources", "Tests", "openapi-sandbox.yaml"]))
        let rules = try Repository.text("docker/Dockerfile.dockerignore").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        #expect(rules.first == "*" && rules.dropFirst().allSatisfy { $0.hasPrefix("!") })
        func isBelow(_ path: String, _ folders: some Sequence<String>) -> Bool {
            folders.contains { path == $0 || path.hasPrefix("\($0)/") }
        }
        for path in copied {
            let file = Repository.root.appending(path: path).path
            #expect(FileManager.default.fileExists(atPath: file), "\(path)")
            #expect(isBelow(path, rules.dropFirst().map { String($0.dropFirst()) }), "\(path) is ignored")
        }
        let sources = Repository.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var embedded: [String] = []
        for case let file as URL in files where ["c", "h"].contains(file.pathExtension) {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: /#embed "([^"]+)"/) {
                let target = file.deletingLastPathComponent().appending(path: String(match.1)).standardizedFileURL
                embedded.append(String(target.path.dropFirst(Repository.root.standardizedFileURL.path.count + 1)))
            }
        }
        #expect(embedded.contains("openapi-sandbox.yaml"))
        for path in embedded { #expect(isBelow(path, copied), "\(path) is embedded, and not copied") }
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
