import Foundation
import Testing

@testable import Disk

@Suite("An offline file as a state machine")
struct OfflineFileTests {
    private static let now = Date(timeIntervalSince1970: 1_767_607_200)

    private func file() throws -> OfflineFile {
        OfflineFile(account: "1", path: try #require(DiskPath("disk:/a.bin")), version: "v1", size: 10, dueAt: Self.now)
    }

    @Test("DISK-39 a failed attempt is repeated after 5 s, then after twice as long each time, at most after an hour")
    func retries() throws {
        var file = try file()
        var pauses: [Double] = []
        for _ in 0..<12 {
            file = file.after(.failed(.unavailable), at: Self.now, jitter: 0)
            pauses.append(try #require(file.dueAt).timeIntervalSince(Self.now))
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
        #expect(file.attempts == 12 && file.failure == .unavailable)
        let later = file.after(.failed(.damaged), at: Self.now, jitter: 0.999)
        #expect(try #require(later.dueAt) > Self.now.addingTimeInterval(3600))
        let stored = file.after(.stored, at: Self.now, jitter: 0)
        #expect(stored.attempts == 0 && stored.dueAt == nil && stored.failure == nil)
    }

    @Test("DISK-39 what cannot succeed without a change is not repeated; what could not begin does not count")
    func finalFailures() throws {
        let file = try file()
        for failure in [OfflineFailure.forbidden, .sizeUnknown, .tooLarge, .tooManyFiles] {
            #expect(file.after(.failed(failure), at: Self.now, jitter: 0).dueAt == nil, "\(failure)")
        }
        for failure in [OfflineFailure.sessionExpired, .unavailable, .damaged, .storageFull, .storage] {
            #expect(file.after(.failed(failure), at: Self.now, jitter: 0).dueAt != nil, "\(failure)")
        }
        #expect(file.after(.postponed, at: Self.now, jitter: 0) == file)
    }

    @Test("DISK-39 a file that has changed has not failed, and is not fetched again at once")
    func changed() throws {
        let changed = try file().after(.changed, at: Self.now, jitter: 0)
        #expect(changed.attempts == 0 && changed.failure == nil)
        #expect(changed.dueAt == Self.now.addingTimeInterval(5))
    }
}
