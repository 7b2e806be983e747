import Foundation
import MediaFormats

extension EmbeddedPicture {
    /// Returns a JPEG that is the stream: its segments tell the decoder everything but the orientation, the profile and
    /// Adobe's inversion.
    static func jpeg(_ source: some ByteSource, _ header: PictureHeader, _ data: Data, keepsMetadata: Bool) throws
        -> EmbeddedPicture
    {
        guard let frame = header.jpeg, frame.isEmbeddable else {
            throw JobError.damaged(
                "a JPEG of a kind that PDF does not know: "
                    + "arithmetic, lossless or of \(header.jpeg?.precision ?? 0) bits"
            )
        }
        let segments = JPEGSegments(source)
        func contents(of marker: UInt8) throws -> [[UInt8]] {
            try segments.all().filter { $0.marker == marker }.map { try source.bytes($0.content) }
        }
        var picture = EmbeddedPicture(
            header,
            bitsPerComponent: 8,
            components: frame.components,
            filter: "/DCTDecode",
            data: keepsMetadata ? [data] : JPEGMetadata.rest(of: data)
        )
        picture.isInverted = frame.components == 4 && frame.adobeTransform != nil
        picture.orientation =
            try contents(of: 0xE1).lazy.compactMap { ExifOrientation.read(fromSegment: $0) }.first ?? .upright
        picture.profile = ICCProfile.joined(try contents(of: 0xE2)).flatMap {
            ICCProfile($0, components: frame.components)
        }
        return picture
    }
}
