/// Previews: which sizes there are, and the pictures.
enum DiskPreview {
    enum Subject: Sendable, Equatable {
        case landscape(Landscape, width: Int, height: Int)
        case sheet
    }

    /// The named sizes in the order in which responses list them, with their longer side in pixels; the three smallest
    /// are squares.
    static let names: [(name: String, side: Int)] = [
        ("XXXS", 50), ("XXS", 75), ("XS", 100), ("S", 150), ("M", 300), ("L", 500), ("XL", 800), ("XXL", 1_024),
        ("XXXL", 1_280),
    ]

    /// What `preview_size` asks for: a name, `128`, `128x`, `x256` or `128x256`.
    struct Size: Equatable {
        var width: Int?
        var height: Int?
        /// A name or a single number bounds the longer side.
        var longerSide: Int?

        init?(_ text: String) {
            if let named = DiskPreview.names.first(where: { $0.name == text }) {
                longerSide = named.side
                return
            }
            let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            let numbers = parts.map { Int($0) }
            guard (1...2).contains(parts.count),
                zip(parts, numbers).allSatisfy({ $0.isEmpty || (1...4_096).contains($1 ?? 0) })
            else { return nil }
            if parts.count == 1 {
                guard let side = numbers[0] else { return nil }
                longerSide = side
            } else {
                guard numbers.contains(where: { $0 != nil }) else { return nil }
                width = numbers[0]
                height = numbers[1]
            }
        }

        /// Pixels of the picture of something that is `width` × `height`; with `crop` exactly the requested size.
        func pixels(of width: Int, _ height: Int, crop: Bool) -> (width: Int, height: Int) {
            if let wantedWidth = self.width, let wantedHeight = self.height, crop { return (wantedWidth, wantedHeight) }
            let bounds = longerSide.map { ($0, $0) } ?? (self.width ?? Int.max, self.height ?? Int.max)
            let scale = min(1, min(Double(bounds.0) / Double(width), Double(bounds.1) / Double(height)))
            return (max(1, Int(Double(width) * scale)), max(1, Int(Double(height) * scale)))
        }
    }

    /// A preview as JPEG.
    static func jpeg(of subject: Subject, size: Size, crop: Bool) -> [UInt8] {
        switch subject {
        case .landscape(let landscape, let width, let height):
            let pixels = size.pixels(of: width, height, crop: crop)
            return landscape.jpeg(width: pixels.width, height: pixels.height)
        case .sheet:
            let pixels = size.pixels(of: 595, 842, crop: crop)
            let columns = (pixels.width + 7) / 8
            return JPEG.encode(width: pixels.width, height: pixels.height) { column, row in
                let isLine = row % 2 == 1 && column > 0 && column < columns - 1 - row % 3
                return isLine ? PNG.Color(red: 190, green: 190, blue: 196) : PNG.Color(red: 252, green: 252, blue: 250)
            }
        }
    }
}
