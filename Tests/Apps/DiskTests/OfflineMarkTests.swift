import Foundation
import Testing

@testable import Disk

@Suite("The state of a mark")
struct OfflineMarkTests {
    private func mark(_ failure: OfflineFailure? = nil, isChecked: Bool = true) throws -> OfflineMark {
        OfflineMark(
            number: 1,
            account: "1",
            path: try #require(DiskPath("disk:/a")),
            kind: .dir,
            markedAt: .distantPast,
            checkedAt: isChecked ? .distantPast : nil,
            failure: failure
        )
    }

    @Test("DISK-39 waiting until it is known, kept if all of it is here, else what is wrong with it")
    func states() throws {
        func state(_ mark: OfflineMark, _ change: (inout OfflineCounts) -> Void = { _ in }, isFetching: Bool = false)
            -> OfflineState
        {
            var counts = OfflineCounts()
            (counts.files, counts.keptFiles) = (3, 3)
            change(&counts)
            return OfflineState(mark, counts, isFetching: isFetching)
        }
        let (mark, unchecked) = (try self.mark(), try self.mark(isChecked: false))
        #expect(state(mark) == .kept)
        #expect(state(mark) { ($0.files, $0.keptFiles) = (0, 0) } == .kept, "an empty folder")
        #expect(state(unchecked) == .waiting)
        #expect(state(mark) { $0.keptFiles = 2 } == .waiting)
        #expect(state(mark, { $0.keptFiles = 2 }, isFetching: true) == .fetching)
        #expect(state(mark) { ($0.keptFiles, $0.outdatedFiles) = (2, 1) } == .outOfDate)
        #expect(state(mark) { ($0.keptFiles, $0.failedFiles) = (2, 1) } == .failed)
        #expect(try state(self.mark(.unavailable)) == .failed)
        #expect(state(mark) { ($0.failedFiles, $0.refusedFiles) = (1, 1) } == .tooLarge)
        for failure in [OfflineFailure.tooLarge, .tooManyFiles] {
            #expect(try state(self.mark(failure)) == .tooLarge)
        }
    }

    @Test("each state and each reason has a text of its own")
    func texts() {
        #expect(Set(OfflineState.allCases.map(\.text)).count == OfflineState.allCases.count)
        let failures: [OfflineFailure] = [
            .tooLarge, .tooManyFiles, .sizeUnknown, .sessionExpired, .forbidden, .unavailable, .damaged, .storageFull,
            .storage,
        ]
        #expect(Set(failures.map(\.text)).count == failures.count)
    }
}
