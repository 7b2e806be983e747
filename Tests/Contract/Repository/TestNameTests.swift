import Testing

/// The tests of a source file are found by its name. Contract and EndToEnd are by behaviour, so theirs are not.
@Suite struct TestNameTests {
    /// What a file has its tests of in a file of their own: `NoteStoreFaultTests` are those of `NoteStore` with faults.
    private static let aspects = [
        // Chosen by name: script/check-faults, script/check-pdf.
        "Fault", "Import",
        // Need other surroundings than the other tests of their source.
        "Hold", "Hostile", "JSON", "Large", "Patience", "Precondition", "QueryPlan", "Statement",
    ]

    /// Files that test no single source.
    private static let exceptions: [String: String] = [
        "DamagedPageTests": "each page of a database is damaged in turn, and any part of the module may meet it",
        "FullDiskTests": "on a full disk, all that an app or a mount does is tried",
        "UpgradeTests": "databases of older builds pass through the migrations of all modules",
        "WireTests": "mutated responses pass through the client, reads and mounts; script/check-fuzz chooses them",
    ]

    /// Returns the test files that are named after no source.
    private static func strangers(_ tests: [String], sources: Set<String>) -> [String] {
        tests.filter { test in
            let name = String(test.dropLast("Tests".count))
            let parts = aspects.filter(name.hasSuffix).map { String(name.dropLast($0.count)) }
            return test.hasSuffix("Tests") && sources.isDisjoint(with: parts + [name])
        }
    }

    /// The names of a folder's Swift files, without their ending.
    private static func names(in folder: String) -> [String] {
        Repository.files(in: folder, suffixes: [".swift"]).compactMap { path in
            path.split(separator: "/").last.map { String($0.dropLast(".swift".count)) }
        }
    }

    /// Returns the targets that a target depends on, and theirs.
    private static func reached(from target: PackageManifest.Target, _ targets: [PackageManifest.Target])
        -> [PackageManifest.Target]
    {
        var reached: [String: PackageManifest.Target] = [:]
        var next = [target]
        while let target = next.popLast() {
            let found = targets.filter { target.modules.contains($0.name) && reached[$0.name] == nil }
            for target in found { reached[target.name] = target }
            next += found
        }
        return Array(reached.values)
    }

    @Test("Each test file is named after a source of the modules that its target tests")
    func names() async throws {
        let targets = try await PackageManifest.load().targets
        var excused: [String] = []
        for target in targets where target.type == "test" && !["ContractTests", "EndToEnd"].contains(target.name) {
            let sources = Self.reached(from: target, targets).flatMap { Self.names(in: $0.folder) }
            for name in Self.strangers(Self.names(in: target.folder), sources: Set(sources)) {
                if Self.exceptions[name] == nil {
                    Issue.record("\(target.folder): there is no source for \(name).swift")
                } else {
                    excused.append(name)
                }
            }
        }
        #expect(Set(excused).sorted() == Self.exceptions.keys.sorted(), "an exception that is none")
    }

    @Test("A file without a source is found; extensions, aspects and helpers are not")
    func planted() {
        let tests = ["ShipTests", "Ship+OrderTests", "ShipFaultTests", "ShipFixtures", "EvictionTests", "FaultTests"]
        #expect(Self.strangers(tests, sources: ["Ship", "Ship+Order"]) == ["EvictionTests", "FaultTests"])
    }
}
