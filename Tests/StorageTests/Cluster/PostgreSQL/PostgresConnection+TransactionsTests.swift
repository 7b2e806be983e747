import Synchronization
import TestKit
import Testing

@testable import Cluster

/// Errors of a commit whose outcome the client cannot know.
@Suite struct CommitTests {
    /// Runs code of the server at the commit of a change, after all its statements.
    private func outcome(of code: String) async throws -> (error: ClusterError?, attempts: Int, kept: Int?) {
        let store = try await Store().withCounters()
        try await store.database.write { transaction in
            try transaction.execute(
                """
                CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN \(code); RETURN NULL; END $$
                """
            )
            try transaction.execute(
                """
                CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON counter DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION at_commit()
                """
            )
        }
        let attempts = Atomic(0)
        let error = await #expect(throws: ClusterError.self) {
            try await store.database.write { transaction in
                attempts.add(1, ordering: .relaxed)
                try transaction.increment("a")
            }
        }
        return (error, attempts.load(ordering: .relaxed), try await store.counters()["a"])
    }

    @Test("If the connection ends during a commit, the outcome is unknown, and the change is not repeated")
    func lost() async throws {
        let outcome = try await outcome(of: "PERFORM pg_terminate_backend(pg_backend_pid())")
        #expect(outcome.error == .outcomeUnknown && outcome.attempts == 1 && outcome.kept == nil)
    }

    @Test("A commit that no standby has confirmed is not acknowledged, although this server has kept it")
    func unconfirmed() async throws {
        let outcome = try await outcome(of: "RAISE WARNING 'canceling wait for synchronous replication'")
        #expect(outcome.error == .outcomeUnknown && outcome.attempts == 1 && outcome.kept == 1)
    }

    @Test("An error of the checks before a commit says that nothing was kept")
    func checked() async throws {
        let outcome = try await outcome(of: "RAISE SQLSTATE '23505' USING CONSTRAINT = 'late'")
        #expect(outcome.error == .notUnique(constraint: "late") && outcome.attempts == 1 && outcome.kept == nil)
    }

    @Test("A conflict that is found at the commit repeats the change")
    func conflict() async throws {
        let outcome = try await outcome(of: "RAISE SQLSTATE '40001'")
        #expect(outcome.error == .unavailable(.contended) && outcome.attempts == TransactionPlan.mostAttempts)
        #expect(outcome.kept == nil)
    }
}
