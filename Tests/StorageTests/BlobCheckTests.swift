import Foundation
import Testing

@testable import Storage

@Suite struct BlobCheckTests {
    private func ids(_ count: Int) -> [BlobID] { (1...count).map { BlobID(number: Int64($0)) } }

    @Test("If there are more files than fit into the message, it has the number of the others")
    func names() {
        var check = BlobCheck()
        #expect(check.faults() == nil && check.strangers() == nil)
        check.missing = ids(7)
        check.unreadable = ids(1)
        check.unknown = ids(5)
        let first = ids(5).map(\.description).joined(separator: ", ")
        #expect(check.faults() == "7 missing: \(first) and 2 more; 1 unreadable: \(ids(1)[0])")
        #expect(check.strangers() == "5 unknown: \(first)")
    }

    @Test("TRUST-03 a file of the right length that cannot be read is named")
    func unreadable() throws {
        let scenario = DirectoryScenario()
        let blob = try scenario.fill()
        // A folder with the length of the file: its name is there, and reading fails.
        let path = scenario.path + "/blobs/\(blob.id)"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let length = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        try scenario.change("UPDATE blob SET length = \(length)")
        let found = try scenario.examine().files
        #expect(found.unreadable == [blob.id] && found.missing.isEmpty && found.cut.isEmpty)
    }
}
