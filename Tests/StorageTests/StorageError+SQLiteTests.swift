import FaultKit
import Foundation
import Logging
import TestKit
import Testing

@testable import Database
@testable import ResponseStore

@Suite struct StorageErrorSQLiteTests {
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
