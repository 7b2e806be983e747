import NIOPosix
import TestKit
import Testing

@testable import Sandbox

@Suite struct RefusingPortTests {
    @Test("HARN-12 refused: the kernel refuses each connection, and no other program gets the port")
    func refuses() async throws {
        let port = try RefusingPort()
        for _ in 0..<20 {
            let error = await #expect(throws: NIOConnectionError.self) {
                try await RawClient.connect(port: port.number) { _ in }
            }
            let reasons = error?.connectionErrors.map { "\($0.error)" } ?? []
            #expect(!reasons.isEmpty && reasons.allSatisfy { $0.contains("Connection refused") }, "\(reasons)")
        }
        #expect(try RefusingPort().number != port.number)
    }
}
