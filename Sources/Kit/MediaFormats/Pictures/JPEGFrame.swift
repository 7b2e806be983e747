/// The coding of a JPEG: its frame header, and the colour transform of its APP14 segment (ITU-T T.81 B.2.2, T.872
/// 6.5.3).
package struct JPEGFrame: Sendable, Equatable {
    /// Number of the SOF marker's process: 0 baseline, 1 extended sequential, 2 progressive; others are arithmetic,
    /// lossless or hierarchical.
    package var process: Int
    /// Bits of a sample.
    package var precision: Int
    /// Pixels of a line.
    package var width: Int
    /// Lines.
    package var height: Int
    /// Colour components: 1 grey, 3 YCbCr or RGB, 4 CMYK or YCCK.
    package var components: Int
    /// The Adobe colour transform, if there is an APP14 segment of Adobe: its CMYK is inverted.
    package var adobeTransform: Int?
    /// Whether it has Huffman tables. The pictures of a film (Motion JPEG) can lack them, and libjpeg then uses those
    /// of the standard's annex K; other decoders refuse them.
    package var hasTables = true

    /// Whether every PDF reader decodes it (ISO 32000-1 7.4.8): Huffman-coded baseline, extended or
    /// progressive, 8 bits, 1, 3 or 4 components.
    package var isEmbeddable: Bool {
        (0...2).contains(process) && hasTables && precision == 8 && [1, 3, 4].contains(components)
    }
}
