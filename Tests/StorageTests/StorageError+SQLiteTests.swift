import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite struct StorageErrorSQLiteTests {
    @Test(
        "TRUST-24 damage that a virtual table or a function tells by its message is damage; faulty SQL is not",
        arguments: [
            ("SELECT sum(value) FROM (SELECT 9223372036854775807 AS value UNION ALL SELECT 1)", true),
            ("SELECT value FROM json_each('[1')", true), ("SELECT value FROM none", false),
        ]
    )
    func messages(sql: String, isDamage: Bool) throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue().read { _ = try Int.fetchAll($0, sql: sql) }
        }
        let translated = error.map { StorageError.translating($0, path: "x") }
        #expect(translated is StorageError == isDamage, "\(error as Any)")
        for message in ["invalid fts5 file format (found 9, expected 4)", "malformed detail=... directive"] {
            let index = DatabaseError(resultCode: .SQLITE_ERROR, message: message)
            #expect(StorageError.translating(index, path: "x") is StorageError)
        }
        let rows = DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed")
        #expect(StorageError.translating(rows, path: "x") is StorageError)
    }

    @Test(
        "TRUST-02 a full disk and a used-up quota are reported as such at each step",
        arguments: [FaultScope.Fault.fullDisk, .quota]
    )
    func reported(_ fault: FaultScope.Fault) async throws {
        let scenario = try FaultScenario()
        for step in 1..<500 {
            let (error, hasFailed) = await scenario.scope.failing(fault, at: step) { () -> (any Error)? in
                do {
                    try await scenario.saveFile("a")
                    return nil
                } catch {
                    return error
                }
            }
            guard hasFailed else { return #expect(error == nil) }
            // Behind the commit only the removal of files is left, which is put off.
            guard let error else { continue }
            guard case .diskFull = error as? StorageError else {
                Issue.record("\(fault) at step \(step): \(error)")
                continue
            }
        }
    }
}
