import HTTPTypes
import Testing

@testable import Screens

struct StorageQuotaTests {
    private let quota = StorageQuota(bytes: 1_000_000, of: .account)

    /// Runs a change between these two amounts.
    private func change(_ before: Int, _ after: Int) throws {
        var amounts = [before, after]
        let usage = { StorageUsage(bytes: amounts.removeFirst(), trash: 0) }
        try quota.holding(usage) {}
    }

    @Test("SRV-18 A change is refused if more is stored after it than before, and than may be")
    func changes() throws {
        for (before, after) in [(0, 1_000_000), (2_000_000, 1_500_000), (2_000_000, 2_000_000)] {
            try change(before, after)
        }
        for (before, after) in [(0, 1_000_001), (1_000_000, 1_000_001), (2_000_000, 2_000_001)] {
            let problem = #expect(throws: Problem.self) { try change(before, after) }
            #expect(problem?.code == .quotaExceeded && problem?.code.status.code == 507)
        }
    }

    @Test("SRV-18 The text says whose limit it is, and what of it can be deleted, in both languages")
    func texts() {
        let usage = StorageUsage(bytes: 1_000_000, trash: 52_000, drafts: 1_500)
        let account = Text.quotaExceeded(quota, usage, added: 4_100)
        #expect(
            account.english == "This account may store 1 MB here and has 1 MB, so nothing was changed; "
                + "4.1 KB more were needed. The server's disk is not the limit. "
                + "52 KB of it are in the trash, which can be emptied. 1.5 KB of it are not saved yet."
        )
        #expect(
            account.russian == "Этой учётной записи здесь отведено 1 МБ, занято 1 МБ; ничего не изменено, нужно ещё "
                + "4,1 КБ. Дело не в диске сервера. Из них 52 КБ — в корзине, её можно очистить. "
                + "Из них 1,5 КБ ещё не сохранено."
        )
        let profile = StorageQuota(bytes: 0, of: .profile("local"))
        let none = StorageUsage(bytes: 0, trash: 0, drafts: 0)
        let text = Text.quotaExceeded(profile, none, added: nil)
        let english = "This profile may store 0 bytes here and has 0 bytes, so nothing was changed."
        #expect(text.english == "\(english) The server's disk is not the limit.")
        #expect(text.russian.hasPrefix("Этому профилю здесь отведено 0 байт"))
        #expect(throws: Problem.self) { try profile.checkRoom(beside: none) }
        #expect(throws: Never.self) { try StorageQuota.unlimited.checkRoom(beside: usage) }
    }

    @Test("Sizes are written as file managers of phones write them, also large ones")
    func sizes() {
        let texts = [1, 999, 1000, 48_211, 1_502_144, 1_073_741_824, Int.max].map { Text.size($0).english }
        #expect(texts == ["1 byte", "999 bytes", "1 KB", "48 KB", "1.5 MB", "1.1 GB", "9223372037 GB"])
    }
}
