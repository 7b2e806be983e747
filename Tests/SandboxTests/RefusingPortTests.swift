import Foundation
import NIOCore
import TestKit
import Testing

@testable import Sandbox

@Suite struct RefusingPortTests {
    @Test("HARN-12 refused: the kernel refuses each connection, and no other program gets the port")
    func refuses() async throws {
        let port = try RefusingPort()
        for _ in 0..<20 {
            let error = await #expect(throws: IOError.self) {
                try await RawClient.connect(port: port.number) { _ in }
            }
            #expect(error?.errnoCode == ECONNREFUSED)
        }
        #expect(try RefusingPort().number != port.number)
    }
}
