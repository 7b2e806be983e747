import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Disk

@Suite("The profile over HTTP")
struct ProfileScreenTests {
    @Test("DISK-07 total, used, available, trash, as numbers and texts; DISK-09 with actions published and logout")
    func profile() async throws {
        let disk = FakeYandexDisk()
        disk.change { state in
            let bytes = [UInt8](repeating: 0, count: 1_048_576)
            state.nodes["trash:/old"] = FakeYandexDisk.Node(isFolder: false, bytes: bytes, origin: "disk:/old")
            state.used -= bytes.count
        }
        try await DiskHarness.run(disk) { app, token in
            let response = try await app.get("/v1/disk/profile", as: token)
            response.expectScreen("disk.profile")
            #expect(
                response["data.total"] == 10_737_418_240 && response["data.used"] == 3_511_500_000
                    && response["data.available"] == 7_225_918_240
            )
            #expect(response["data.trash"] == 1_048_576)
            #expect(
                response["data.total_text"] == "10 GB" && response["data.used_text"] == "3.27 GB - used"
                    && response["data.available_text"] == "6.73 GB - available"
            )
            #expect(response.all("id", in: "data.chart") == ["used", "available"])
            #expect(response.all("id", in: "data.actions") == ["published", "logout"])
            #expect(response["data.actions.0.href"] == "/v1/disk/published")
            #expect(
                response["data.actions.1.confirm.message"]
                    == "Are you sure you want to log out? All local data will be deleted."
            )
            #expect(response["meta.source"] == "upstream")
        }
    }

    @Test("TRUST-01 any total and used space is shown, that of an empty Disk too")
    func oddTotals() async throws {
        try await DiskHarness.run { app, token in
            app.disk.change { $0.total = 0 }
            let nothing = try await app.get("/v1/disk/profile?refresh=1", as: token)
            #expect(nothing["data.used_fraction"] == 0 && nothing["data.chart.1.fraction"] == 1)
            for (total, used) in [(Int.min, Int.max), (Int.max, Int.min), (-1, 1)] {
                app.disk.intercept { (_) in
                    .json(#"{"total_space":\#(total),"used_space":\#(used),"user":{"uid":"1130","login":"anna"}}"#)
                }
                let odd = try await app.get("/v1/disk/profile?refresh=1", as: token)
                #expect(odd.status == 200, "TRUST-01 \(total) \(used)")
                #expect(try await app.get("/v1/disk/profile/chart.svg", as: token).status == 200)
            }
        }
    }

    @Test("DISK-07 without the API the profile is shown as it was stored, with a banner")
    func away() async throws {
        try await DiskHarness.run { app, token in
            _ = try await app.get("/v1/disk/profile", as: token)
            app.disk.goAway()
            let offline = try await app.get("/v1/disk/profile?refresh=1", as: token)
            #expect(
                offline.status == 200 && offline["meta.offline"] == true && offline["meta.banner.code"] == "offline"
            )
        }
    }

    @Test("DISK-08 the ring is an SVG document of the same numbers")
    func chart() async throws {
        try await DiskHarness.run { app, token in
            let response = try await app.get("/v1/disk/profile/chart.svg", as: token)
            #expect(response.status == 200 && response.headerFields[.contentType] == "image/svg+xml; charset=utf-8")
            #expect(response.text.hasPrefix("<svg ") && response.text.contains("10 GB"))
            #expect(response.text.contains(#"stroke-dasharray="164.39 502.65""#))
            #expect(try XMLCheck.isWellFormed(response.body))
        }
    }

    @Test("an account that turns out to be another's is not taken over")
    func otherAccount() async throws {
        try await DiskHarness.run { app, token in
            app.disk.change { $0.tokens["good"] = "9999" }
            app.clock.advance(by: .seconds(6))
            let response = try await app.get("/v1/disk/profile", as: token)
            response.expectProblem("upstream-bad-response", 502)
            #expect(!response.text.contains("9999"))
        }
    }
}

/// Checks that an XML document closes each element in turn, as far as Larder's own pictures need it.
enum XMLCheck {
    static func isWellFormed(_ data: Data) throws -> Bool {
        var open: [Substring] = []
        let text = String(decoding: data, as: UTF8.self)
        for tag in text.matches(of: /<(\/?)(\w+)(\s[^<>]*?)?(\/?)>/) {
            if tag.1 == "/" {
                guard open.popLast() == tag.2 else { return false }
            } else if tag.4 != "/" {
                open.append(tag.2)
            }
        }
        return open.isEmpty
    }
}
