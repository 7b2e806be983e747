import TestKit
import Testing

@testable import Cluster

@Suite struct PostgresMigrationTests {
    private let steps = [
        PostgresMigration("a/001", sql: "CREATE TABLE a (id int8 PRIMARY KEY); CREATE TABLE b (id int8 PRIMARY KEY)"),
        PostgresMigration("a/002", sql: "INSERT INTO a VALUES (1)"),
    ]

    @Test("Servers that start at the same time apply each step once between them")
    func together() async throws {
        let store = try await Store()
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<6 { group.addTask { try await store.other().migrate(steps) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied == ["a/001", "a/002"])
        #expect(try await store.database.rows("SELECT id FROM a") { try $0.value("id") as Int } == [1])
    }

    @Test("A newer build's steps are applied; an older build goes on with more steps of its owners, others are refused")
    func newer() async throws {
        let store = try await Store()
        try await store.database.migrate(steps)
        let later = PostgresMigration("a/003", sql: "ALTER TABLE a ADD COLUMN future text")
        #expect(try await store.database.migrate(steps + [later]) == ["a/003"])
        #expect(try await store.database.migrate(steps) == [])
        #expect(try await store.database.missing(of: steps) == [])
        let more = PostgresMigration("b/001", sql: "CREATE TABLE c (id int8)")
        #expect(try await store.database.migrate([more] + steps) == ["b/001"])
        #expect(try await store.database.migrate(steps + [more]) == [])
        await #expect(throws: ClusterError.newerSchema(unknownMigrations: ["b/001"])) {
            try await store.database.migrate(steps)
        }
    }

    @Test("If a step fails, none is applied")
    func failed() async throws {
        let store = try await Store()
        await #expect(throws: ClusterError.self) {
            try await store.database.migrate(steps + [PostgresMigration("a/003", sql: "CREATE TABLE a (id int8)")])
        }
        #expect(try await store.database.migrate(steps) == ["a/001", "a/002"])
    }

    @Test("Two steps of one name are a mistake of the build")
    func ambiguous() async throws {
        let store = try await Store()
        await #expect(throws: ClusterError.ambiguousMigration(name: "a/001")) {
            try await store.database.migrate(steps + steps)
        }
    }
}
