import Foundation
import MediaFormats

/// A picture as it is embedded in a PDF (ISO 32000-1 8.9.5): its data unchanged, and the parameters to decode them.
struct EmbeddedPicture: Equatable {
    /// Pixels of a stored line.
    var width: Int
    /// Stored lines.
    var height: Int
    var bitsPerComponent: Int
    /// 1 grey, 3 RGB, 4 CMYK; for a palette those of its colours.
    var components: Int
    /// `/DCTDecode` or `/FlateDecode`.
    var filter: String
    /// Parameters of the filter in PDF notation.
    var filterParameters: String?
    /// The data as they are embedded, in parts.
    var data: [Data]
    /// Values are stored inverted, as Adobe's programs store CMYK.
    var isInverted = false
    /// The CRC-32 of the data, once it is known.
    var checksum: UInt = 0
    /// RGB triplets.
    var palette: [UInt8]?
    var profile: ICCProfile?
    var orientation = ExifOrientation.upright
    /// Height of a pixel by its width, as it is shown.
    var pixelAspect = 1.0

    /// Width as it is shown.
    var shownWidth: Int { orientation.swapsSides ? height : width }
    /// Height as it is shown.
    var shownHeight: Int { orientation.swapsSides ? width : height }

    /// Bytes that it takes in a document; a palette is written in hexadecimal digits.
    var bytes: Int { data.reduce(0) { $0 + $1.count } + 2 * (palette?.count ?? 0) + (profile?.bytes.count ?? 0) }

    /// The colour space without a profile.
    var deviceColorSpace: String { components == 1 ? "/DeviceGray" : components == 3 ? "/DeviceRGB" : "/DeviceCMYK" }

    /// Returns a profile of the colours of sRGB with another gamma.
    func profile(gamma: Double) -> ICCProfile? { ICCProfile(gamma: gamma, components: components) }

    /// Reads a JPEG or PNG that can be embedded as it is.
    ///
    /// - Parameter keepsMetadata: whether a JPEG keeps its metadata.
    /// - Throws: `PictureHeaderError`, ``JobError``.
    init(file path: String, keepsMetadata: Bool = false) throws {
        let source = try FileBytes(URL(filePath: path))
        let header = try PictureHeader(of: source)
        let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        switch header.format {
        case .jpeg: self = try Self.jpeg(source, header, data, keepsMetadata: keepsMetadata)
        case .png: self = try Self.png(source, data)
        default: throw JobError.damaged("\(header.format.rawValue.uppercased()) cannot be embedded as it is")
        }
    }

    init(_ header: PictureHeader, bitsPerComponent: Int, components: Int, filter: String, data: [Data]) {
        (width, height) = (header.width, header.height)
        self.bitsPerComponent = bitsPerComponent
        self.components = components
        self.filter = filter
        self.data = data
    }
}
