import Testing

@testable import Disk

@Suite("The budget of offline files")
struct OfflineAdmissionTests {
    private static let candidates = [("a", 40), ("b", 30), ("c", 20)].map {
        OfflineAdmission.Candidate(path: $0.0, bytes: $0.1)
    }

    @Test(
        "DISK-39 what was marked fits as a whole or not at all; what is added to it later fits by itself",
        arguments: [
            (90, true, 3), (89, true, 0), (90, false, 3), (89, false, 2), (65, false, 2), (20, false, 1), (0, false, 0),
            (-5, true, 0),
        ]
    )
    func fits(free: Int, isWhole: Bool, count: Int) {
        let admission = OfflineAdmission(budget: 1000, reserved: 1000 - free)
        let admitted = admission.admitted(Self.candidates, isWhole: isWhole)
        #expect(admitted.count == count)
        #expect(admitted.reduce(0) { $0 + $1.bytes } <= max(0, free))
    }

    @Test("what needs no bytes fits into a full budget")
    func empty() {
        let empty = OfflineAdmission.Candidate(path: "e", bytes: 0)
        #expect(OfflineAdmission(budget: 0, reserved: 0).admitted([empty], isWhole: true) == [empty])
    }
}
