import Foundation

@testable import Media

/// Decoded pixels, as PPM (P6, 8 bits) has them.
struct Pixels: Equatable {
    struct Color: Equatable, CustomStringConvertible {
        var red: Int
        var green: Int
        var blue: Int

        init(_ red: Int, _ green: Int, _ blue: Int) { (self.red, self.green, self.blue) = (red, green, blue) }

        static let red = Color(255, 0, 0)
        static let green = Color(0, 255, 0)
        static let blue = Color(0, 0, 255)
        static let white = Color(255, 255, 255)
        static let black = Color(0, 0, 0)

        func isNear(_ other: Color, _ tolerance: Int = 12) -> Bool {
            abs(red - other.red) <= tolerance && abs(green - other.green) <= tolerance
                && abs(blue - other.blue) <= tolerance
        }

        var description: String { "(\(red), \(green), \(blue))" }
    }

    let width: Int
    let height: Int
    var bytes: [UInt8]

    init(width: Int, height: Int, _ color: (Int, Int) -> Color) {
        (self.width, self.height) = (width, height)
        bytes = []
        bytes.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let color = color(x, y)
                bytes += [UInt8(clamping: color.red), UInt8(clamping: color.green), UInt8(clamping: color.blue)]
            }
        }
    }

    /// Reads a PPM; libvips puts a comment into its head.
    init(ppm: [UInt8]) throws {
        var words: [String] = []
        var position = 0
        while words.count < 4, let end = ppm[position...].firstIndex(where: { $0 == 0x0A || $0 == 0x20 }) {
            if ppm[position] == 0x23 {
                position = (ppm[position...].firstIndex(of: 0x0A) ?? end) + 1
            } else {
                words.append(String(decoding: ppm[position..<end], as: UTF8.self))
                position = end + 1
            }
        }
        guard words.count == 4, words[0] == "P6", words[3] == "255", let width = Int(words[1]),
            let height = Int(words[2])
        else {
            throw Scratch.ToolFailed(description: "no PPM of 8 bits: \(words)")
        }
        (self.width, self.height) = (width, height)
        bytes = Array(ppm[position...])
    }

    var ppm: [UInt8] { Array("P6 \(width) \(height) 255\n".utf8) + bytes }

    subscript(x: Int, y: Int) -> Color {
        let at = 3 * (y * width + x)
        return Color(Int(bytes[at]), Int(bytes[at + 1]), Int(bytes[at + 2]))
    }

    /// The colour at a place told in parts of the sides.
    func at(_ x: Double, _ y: Double) -> Color { self[Int(Double(width) * x), Int(Double(height) * y)] }

    /// The mean difference of a channel from another picture of the same size; 255 where sizes differ.
    func difference(from other: Pixels) -> Double {
        guard width == other.width, height == other.height, !bytes.isEmpty else { return 255 }
        return Double(zip(bytes, other.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(bytes.count)
    }

    /// Red, green, blue, white: upper left, upper right, lower left, lower right.
    static func quadrants(_ width: Int = 96, _ height: Int = 64) -> Pixels {
        Pixels(width: width, height: height) { x, y in
            switch (x < width / 2, y < height / 2) {
            case (true, true): .red
            case (false, true): .green
            case (true, false): .blue
            case (false, false): .white
            }
        }
    }

    /// Soft colours that differ everywhere, so that no two places are taken for one another.
    static func gradient(_ width: Int = 96, _ height: Int = 64) -> Pixels {
        Pixels(width: width, height: height) { x, y in
            Color(x * 255 / width, y * 255 / height, 255 - (x + y) * 255 / (width + height))
        }
    }
}

extension Scratch {
    /// Writes a picture in the format that the name and the options of libvips tell: `a.jpg[Q=90,interlace]`.
    func picture(_ pixels: Pixels, _ name: String) async throws -> URL {
        let raw = try write(pixels.ppm, to: "\(UUID().uuidString).ppm")
        return try await copy(raw, to: name)
    }

    /// Writes a picture in another format. HEIC and AVIF are written by `heif-enc`: before 8.15 libvips cannot, with
    /// the libheif that reads photos of today.
    @discardableResult
    func copy(_ picture: URL, to name: String) async throws -> URL {
        let file = url(String(name.prefix { $0 != "[" }))
        guard ["heic", "avif"].contains(file.pathExtension) else {
            try await tool("vips", ["copy", picture.path, url(name).path])
            return file
        }
        let png = url("\(UUID().uuidString).png").path
        try await tool("vips", ["copy", picture.path, png])
        let quality = name.firstMatch(of: /Q=([0-9]+)/).map { String($0.1) } ?? "50"
        let speed = name.contains("effort=0") ? ["-p", "speed=9"] : []
        try await tool("heif-enc", ["-q", quality] + speed + [png, "-o", file.path])
        return file
    }

    /// Pixels of any picture as libvips decodes it, upright, in sRGB.
    func pixels(of picture: URL, hasProfile: Bool = false) async throws -> Pixels {
        let (upright, colored, name) = (
            "\(UUID().uuidString).tif", "\(UUID().uuidString).tif", "\(UUID().uuidString).ppm"
        )
        let profile = hasProfile ? ["--export-profile", "srgb"] : []
        try await tool("vips", ["thumbnail", picture.path, url(upright).path, "10000000", "--size", "down"] + profile)
        try await tool("vips", ["colourspace", url(upright).path, url(colored).path, "srgb"])
        try await tool("vips", ["cast", url(colored).path, url(name).path, "uchar"])
        return try Pixels(ppm: Array(Data(contentsOf: url(name))))
    }

    /// A page of a PDF as poppler draws it, at 72 pixels an inch unless told otherwise.
    func drawn(_ pdf: URL, page: Int = 1, resolution: Int = 72) async throws -> Pixels {
        let name = UUID().uuidString
        try await tool(
            "pdftoppm",
            ["-r", "\(resolution)", "-f", "\(page)", "-l", "\(page)", "-singlefile", pdf.path, url(name).path]
        )
        return try Pixels(ppm: Array(Data(contentsOf: url("\(name).ppm"))))
    }

    /// Fails unless qpdf finds nothing to complain of.
    func check(_ pdf: URL) async throws {
        try await tool("qpdf", ["--check", "--warning-exit-0", pdf.path])
        let complaints = try await text(of: "qpdf", ["--check", pdf.path])
        guard !complaints.contains("WARNING") else { throw ToolFailed(description: complaints) }
    }
}
