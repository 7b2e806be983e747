import Foundation
import Screens
import TestKit
import Testing

@testable import Disk

@Suite("Texts of the app")
struct DiskTextTests {
    @Test(
        "DISK-10 sizes have two decimals in steps of 1024, beyond 2 GiB too",
        arguments: [
            (12345, "12.06 KB"), (0, "0.00 KB"), (1023, "1.00 KB"), (1_048_575, "1024.00 KB"), (1_048_576, "1.00 MB"),
            (1_073_741_823, "1024.00 MB"),
            (2_147_483_648, "2.00 GB"), (3_221_225_472, "3.00 GB"), (nil, "Unknown size"),
            (Int.max, "8589934592.00 GB"),
        ]
    )
    func size(bytes: Int?, expected: String) {
        #expect(DiskText.size(bytes).english == expected)
    }

    @Test(
        "DISK-07 the profile has whole GB without decimals",
        arguments: [(10_737_418_240, "10 GB"), (3_511_500_000, "3.27 GB"), (7_225_918_240, "6.73 GB"), (0, "0 GB")]
    )
    func gigabytes(bytes: Int, expected: String) {
        #expect(DiskText.gigabytes(bytes).english == expected)
    }

    @Test("DISK-10 times are written in the time zone asked for; none is Unknown date")
    func dates() throws {
        let date = try #require(UpstreamTime.date("2024-04-21T10:57:13+00:00"))
        #expect(date.timeIntervalSince1970 == 1_713_697_033)
        #expect(DiskText.date(date, in: .gmt).english == "21.04.2024 10:57")
        #expect(DiskText.date(date, in: try #require(TimeZone(identifier: "Asia/Tokyo"))).english == "21.04.2024 19:57")
        #expect(DiskText.date(nil, in: .gmt).english == "Unknown date")
    }

    @Test(
        "DISK-10 times are those of Foundation's calendar",
        arguments: ["Europe/Berlin", "Asia/Kolkata", "America/New_York"]
    )
    func calendar(zone: String) throws {
        let timeZone = try #require(TimeZone(identifier: zone))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = timeZone
        formatter.dateFormat = "dd.MM.yyyy HH:mm"
        var random = SeededRandom(seed: 3)
        for _ in 0..<500 {
            let date = Date(timeIntervalSince1970: .random(in: -3_000_000_000...9_000_000_000, using: &random))
            #expect(DiskText.date(date, in: timeZone).english == formatter.string(from: date))
        }
    }

    @Test(
        "times of the upstream, with any offset; nonsense is none",
        arguments: [
            ("2024-04-21T13:57:13+03:00", 1_713_697_033), ("2024-04-21T10:57:13Z", 1_713_697_033),
            ("2024-04-21T10:57:13.250+00:00", 1_713_697_033),
            ("yesterday", nil),
        ] as [(String, Int?)]
    )
    func upstreamTimes(text: String, expected: Int?) {
        #expect(UpstreamTime.date(text).map { Int($0.timeIntervalSince1970) } == expected)
    }

    @Test(
        "DISK-21 DISK-47 icon and viewer by the name's extension",
        arguments: [
            ("a.JPG", "image", "image"), ("a.png", "image", "image"), ("a.pdf", "pdf", "pdf"),
            ("a.docx", "word", "office"), ("a.txt", "word", "text"), ("a.MD", "unknown", "text"),
            ("a.csv", "unknown", "text"), ("a.json", "unknown", "text"), ("a.mp3", "unknown", "audio"),
            ("a.mp4", "unknown", "video"), ("a.gif", "image", "image"), ("a.webp", "image", "image"),
            ("a.xlsx", "excel", "office"), ("a.pptx", "powerpoint", "office"), ("a.ppt", "powerpoint", "office"),
            ("a.svg", "svg", "image"),
            ("a.zip", "unknown", "unsupported"), ("a", "unknown", "unsupported"), (".pdf", "unknown", "unsupported"),
            ("a.", "unknown", "unsupported"),
            ("a.pdf.exe", "unknown", "unsupported"),
        ]
    )
    func kinds(name: String, icon: String, viewer: String) {
        let item = DiskItem(path: DiskPath.root.child(name), kind: .file)
        #expect(item.icon == icon)
        #expect(item.viewer?.rawValue == viewer)
    }

    @Test(
        "DISK-07 chart fractions sum to 1, and a total of 0 does not divide by zero",
        arguments: [(0, 0), (5, 0), (3, 10), (20, 10), (0, 10)]
    )
    func chart(used: Int, total: Int) {
        let account = DiskAccount(
            id: "1",
            name: nil,
            linkedAt: .distantPast,
            space: DiskSpace(total: total, used: used, trash: 0),
            epoch: 0,
            revision: 0,
            login: DiskLogin(session: "", token: "", isRejected: false)
        )
        let screen = ProfileScreen(account)
        #expect(screen.chart.map(\.fraction).reduce(0, +) == 1)
        #expect((0...1).contains(screen.usedFraction))
        #expect(screen.available >= 0)
        #expect(ProfileChart.svg(account).contains("stroke-dasharray"))
    }

    @Test(
        "sizes of previews: the upstream's names, or pixels within reason",
        arguments: ["S", "XXXL", "120x120", "128x", "x256", "64", "2000x1"]
    )
    func previewSizes(text: String) throws {
        #expect(try #require(PreviewSize(text)).isCropped == (text == "120x120" || text == "2000x1"))
    }

    @Test(
        "others are none",
        arguments: ["", "x", "s", "0x1", "2001x1", "1x2x3", "-1x5", "1.5x2", "120X120", "９x9", "axb"]
    )
    func noPreviewSizes(text: String) {
        #expect(PreviewSize(text) == nil)
    }

    @Test(
        "the identity of an operation is the last part of its address, or a parameter",
        arguments: [
            ("https://cloud-api.yandex.net/v1/disk/operations/0a1b", "0a1b"),
            ("http://x/v1/disk/operations?id=77", "77"),
            ("https://x/v1/disk/operations", nil), ("", nil),
        ] as [(String, String?)]
    )
    func operations(href: String, expected: String?) {
        #expect(YandexDiskClient.operationID(in: href) == expected)
    }
}

@Suite("Paths on the Disk")
struct DiskPathTests {
    @Test(
        "a path has one spelling, with or without scheme and slash at its end",
        arguments: [
            ("disk:/", "disk:/"), ("/", "disk:/"), ("disk:/a", "disk:/a"), ("/a/", "disk:/a"),
            ("disk:/Загрузки/", "disk:/Загрузки"),
            ("/notes:123.vb", "disk:/notes:123.vb"), ("disk:/a b/c+d #%&?.txt", "disk:/a b/c+d #%&?.txt"),
            ("/👩‍👩‍👧/x", "disk:/👩‍👩‍👧/x"), ("/disk:/x", "disk:/disk:/x"),
        ]
    )
    func normal(text: String, expected: String) throws {
        #expect(try #require(DiskPath(text)).text == expected)
    }

    @Test(
        "what is no path is refused",
        arguments: [
            "", "a", "disk:", "disk:a", "trash:/a", "app:/a", "http://x/", "//", "/a//b", "/a//", "/./a", "/..",
            "/a/../b", "/a\0b",
            "/" + String(repeating: "x", count: 256),
        ]
    )
    func none(text: String) {
        #expect(DiskPath(text) == nil)
    }

    @Test("name, parent and what is below")
    func parts() throws {
        let path = try #require(DiskPath("/docs/2024/a.pdf"))
        #expect(path.name == "a.pdf")
        #expect(path.parent?.text == "disk:/docs/2024")
        #expect(path.parent?.parent?.parent == .root)
        #expect(DiskPath.root.parent == nil)
        #expect(DiskPath.root.name == "")
        #expect(try #require(DiskPath("/docs")).contains(path))
        #expect(try #require(DiskPath("/doc")).contains(path) == false)
        #expect(DiskPath.root.contains(path))
        #expect(!path.contains(path))
        #expect(DiskPath.root.child("x").text == "disk:/x")
    }

    @Test("everything but unreserved characters is percent-encoded, a plus first of all")
    func encoding() throws {
        #expect(try #require(DiskPath("/a+b #%&?.txt")).queryValue == "disk%3A%2Fa%2Bb%20%23%25%26%3F.txt")
        #expect(try #require(DiskPath("/é")).queryValue == "disk%3A%2F%C3%A9")
    }

    @Test("composed and decomposed letters are two names")
    func normalization() throws {
        let (composed, decomposed) = (try #require(DiskPath("/\u{E9}")), try #require(DiskPath("/e\u{301}")))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}
