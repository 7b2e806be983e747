import Foundation
import Testing

@testable import Larder
@testable import Screens

struct DevicesCommandTests {
    @Test("SRV-17 the list has aligned columns, whatever the names are")
    func listing() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        let devices = [("a1", "Anna's phone", "anna"), ("b22", "планшет", "local")].map { id, name, profile in
            Device(id: id, name: name, profile: profile, pairedAt: now - 90_000, lastSeenAt: now - 60)
        }
        let lines = DeviceListing.text(devices, now: now).split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("ID   PROFILE  PAIRED  SEEN"))
        #expect(lines[1].hasPrefix("a1   anna     ") && lines[1].hasSuffix("  Anna's phone"))
        #expect(lines[2].hasPrefix("b22  local    ") && lines[2].hasSuffix("  планшет"))
    }
}
