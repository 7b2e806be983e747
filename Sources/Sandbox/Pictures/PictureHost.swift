import CZlib
import HTTPTypes

/// A host of generated pictures with the behaviour of real ones: HTML in place of a picture, 404, redirects to itself
/// and to other hosts.
struct PictureHost: Sendable {
    /// Path of the pictures below the sandbox's origin, such as `/spacex/images`.
    let path: String
    /// A name that has a page of HTML in place of a picture.
    let page: (name: String, html: String)
    /// Whether names below `inside` redirect to the sandbox's machine itself.
    let redirectsInside: Bool
    /// Returns the PNG file of a name.
    let picture: @Sendable (_ name: String) -> [UInt8]

    /// Responds to a request whose path begins with the host's own part.
    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let path = Array(request.path.dropFirst())
        guard let name = path.last else { return Self.notFound }
        switch (path[0], path.count) {
        case (page.name, 1):
            let fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]
            return UpstreamResponse(status: .ok, headers: fields, body: Array(page.html.utf8))
        case ("moved", 2):
            return redirect(to: "\(request.origin)\(self.path)/\(name)")
        case ("elsewhere", 2):
            // A name that is reserved and never resolves (RFC 2606).
            return redirect(to: "https://pictures.example/\(name)")
        case ("inside", 2) where redirectsInside:
            // The services of the machine itself. No picture of a catalogue may redirect there.
            return redirect(to: "http://127.0.0.1:9/\(name)")
        case (_, 1) where Self.isPictureName(name):
            let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "public, max-age=86400"]
            return UpstreamResponse(status: .ok, headers: fields, body: picture(name)).conditional(on: request)
        default:
            return Self.notFound
        }
    }

    private static var notFound: UpstreamResponse { .text(.notFound, "Not Found") }

    private func redirect(to location: String) -> UpstreamResponse {
        var response = UpstreamResponse.text(.found, "Found")
        response.headers[.location] = location
        return response
    }

    /// Any such name has a picture, so that an item added by a test has one as well; `missing.png` has none.
    private static func isPictureName(_ name: String) -> Bool {
        guard name.hasSuffix(".png"), name.utf8.count <= 68, name != "missing.png" else { return false }
        let stem = name.dropLast(4)
        return !stem.isEmpty
            && stem.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}

/// The numbers of a drawing, which follow from its name and the sandbox's seed.
struct PictureDraws {
    private let seed: UInt64

    init(of name: String, seed: UInt64) { self.seed = seed ^ SplitMix64.seed(of: name) }

    /// Returns a number below `bound` for each purpose.
    func callAsFunction(_ purpose: UInt64, _ bound: Int) -> Int {
        SplitMix64.number(seed: seed, index: purpose, below: bound)
    }

    func shade(_ purpose: UInt64, _ base: Int, _ range: Int) -> UInt8 { UInt8(base + self(purpose, range)) }

    /// Returns a colour by the base and the range of each part, for which there are three purposes.
    func color(_ purpose: UInt64, red: (Int, Int), green: (Int, Int), blue: (Int, Int)) -> PNG.Color {
        PNG.Color(
            red: shade(purpose, red.0, red.1),
            green: shade(purpose + 1, green.0, green.1),
            blue: shade(purpose + 2, blue.0, blue.1)
        )
    }
}

/// A drawing of a ship at sea whose colours and proportions follow from its name and the sandbox's seed.
enum ShipPicture {
    static let width = 320
    static let height = 200

    static func png(name: String, seed: UInt64) -> [UInt8] {
        let draw = PictureDraws(of: name, seed: seed)
        let length = 140 + draw(1, 100)
        let depth = 24 + draw(2, 20)
        let left = (width - length) / 2 + draw(3, 31) - 15
        let deck = 118 - depth
        let shapes: [Shape] = [
            Shape(color: 1, columns: 0..<width, rows: 118..<height),
            Shape(color: 2, columns: left..<left + length, rows: deck..<126, slant: 1),
            Shape(
                color: 3,
                columns: left..<left + length,
                rows: deck + depth / 2..<deck + depth / 2 + 5,
                slant: 1,
                inset: depth / 2
            ),
            Shape(
                color: 4,
                columns: left + length / 8..<left + length / 8 + 40 + draw(4, 25),
                rows: deck - 30 - draw(5, 15)..<deck
            ),
            Shape(color: 5, columns: left + length / 2..<left + length / 2 + 12, rows: deck - 24 - draw(6, 20)..<deck),
        ]
        var pixels = [UInt8](repeating: 0, count: width * height)
        for shape in shapes { shape.draw(on: &pixels) }
        return PNG.encode(width: width, height: height, palette: palette(draw), pixels: pixels)
    }

    /// Sky, sea, hull, stripe, cabin, funnel.
    private static func palette(_ draw: PictureDraws) -> [PNG.Color] {
        [
            draw.color(10, red: (150, 60), green: (190, 40), blue: (225, 30)),
            draw.color(13, red: (10, 40), green: (70, 60), blue: (110, 70)),
            draw.color(16, red: (30, 190), green: (30, 190), blue: (30, 190)),
            PNG.Color(red: 255, green: draw.shade(19, 180, 70), blue: draw.shade(20, 0, 120)),
            draw.color(21, red: (225, 30), green: (225, 30), blue: (215, 30)),
            draw.color(24, red: (120, 120), green: (40, 60), blue: (30, 40)),
        ]
    }

    /// A rectangle whose sides approach each other by `slant` pixels a row. Its first row is `inset` rows after the
    /// beginning of the slant.
    private struct Shape {
        let color: UInt8
        let columns: Range<Int>
        let rows: Range<Int>
        var slant = 0
        var inset = 0

        func draw(on pixels: inout [UInt8]) {
            for row in rows {
                let shift = slant * (row - rows.lowerBound + inset)
                let first = max(0, columns.lowerBound + shift)
                let last = min(width, columns.upperBound - shift)
                for column in first..<max(first, last) { pixels[row * width + column] = color }
            }
        }
    }
}

/// An object on a coloured ground. Its form and colours follow from its name and the sandbox's seed.
enum ProductPicture {
    static let width = 400
    static let height = 300

    static func png(name: String, seed: UInt64) -> [UInt8] {
        let draw = PictureDraws(of: name, seed: seed)
        let palette = [
            draw.color(10, red: (200, 56), green: (200, 56), blue: (200, 56)),
            draw.color(13, red: (20, 180), green: (20, 180), blue: (20, 180)),
            draw.color(16, red: (120, 120), green: (120, 120), blue: (120, 120)),
        ]
        let (halfWidth, halfHeight) = (70 + draw(1, 90), 50 + draw(2, 70))
        // 1 makes a lozenge; larger numbers make the form more like a rectangle.
        let roundness = 1 + draw(3, 4)
        let stripe = 8 + draw(4, 20)
        var pixels = [UInt8](repeating: 0, count: width * height)
        for row in height / 2 - halfHeight..<height / 2 + halfHeight {
            let rise = abs(row - height / 2) * 1000 / halfHeight
            var inset = 1000
            for _ in 0..<roundness { inset = inset * rise / 1000 }
            let reach = halfWidth * (1000 - inset) / 1000
            for column in width / 2 - reach..<width / 2 + reach {
                pixels[row * width + column] = (row + column) / stripe % 5 == 0 ? 2 : 1
            }
        }
        return PNG.encode(width: width, height: height, palette: palette, pixels: pixels)
    }
}

/// Writes a picture of up to 256 colours as PNG (W3C PNG, third edition). Its data is in stored blocks (RFC 1951
/// section 3.2.4), which need no compressor.
enum PNG {
    struct Color: Sendable, Hashable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8
    }

    /// - Parameters:
    ///   - palette: 1…256 colours.
    ///   - pixels: an index into the palette for each pixel, row by row; `width` × `height` of them.
    static func encode(width: Int, height: Int, palette: [Color], pixels: [UInt8]) -> [UInt8] {
        precondition(pixels.count == width * height && (1...256).contains(palette.count))
        var scanlines: [UInt8] = []
        scanlines.reserveCapacity(height * (width + 1))
        for row in 0..<height {
            // Filter type 0: the unfiltered row.
            scanlines.append(0)
            scanlines += pixels[row * width..<(row + 1) * width]
        }
        // 8 bits an index, colour type 3 (palette), no interlace.
        let header = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 3, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header)
            + chunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
            + chunk("IDAT", zlib(scanlines))
            + chunk("IEND", [])
    }

    private static func chunk(_ type: StaticString, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.description.utf8) + data
        return bigEndian(UInt32(data.count)) + content + bigEndian(crc32(content))
    }

    /// A zlib stream (RFC 1950) of stored blocks.
    private static func zlib(_ data: [UInt8]) -> [UInt8] {
        // Deflate with a window of 32 KiB, no dictionary, fastest.
        var stream: [UInt8] = [0x78, 0x01]
        let longest = 65_535
        for start in stride(from: 0, to: data.count, by: longest) {
            let block = data[start..<min(start + longest, data.count)]
            let length = UInt16(block.count)
            let isLast: UInt8 = block.endIndex == data.count ? 1 : 0
            stream += [isLast, UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
            stream += block
        }
        return stream + bigEndian(adler32(data))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// CRC-32 of PNG, annex D.
    static func crc32(_ bytes: [UInt8]) -> UInt32 { UInt32(CZlib.crc32_z(0, bytes, bytes.count)) }

    /// Adler-32 of RFC 1950 section 9.
    static func adler32(_ bytes: [UInt8]) -> UInt32 { UInt32(CZlib.adler32_z(1, bytes, bytes.count)) }
}
