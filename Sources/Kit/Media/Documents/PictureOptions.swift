/// How pictures become pages.
package struct PictureOptions: Sendable, Equatable {
    /// How much of a picture is kept.
    package enum Quality: String, Sendable, CaseIterable {
        /// All of it; data that PDF can hold go in unchanged.
        case original
        /// JPEG for printing: 300 pixels an inch of A4.
        case high
        /// JPEG for reading: 200 pixels an inch of A4.
        case medium
        /// JPEG for sending: 120 pixels an inch of A4.
        case low

        /// The longer side in pixels, and the quality of the JPEG; nil for no change.
        var coding: (longest: Int, quality: Int)? {
            switch self {
            case .original: nil
            case .high: (3508, 88)
            case .medium: (2339, 80)
            case .low: (1403, 65)
            }
        }
    }

    /// Size of the pages, and margins.
    package var layout: PageLayout
    /// How much of the pictures is kept.
    package var quality: Quality
    /// Whether photos keep their metadata: time, camera, position of the photographer.
    package var keepsMetadata: Bool

    /// Creates options.
    package init(layout: PageLayout = .fit, quality: Quality = .original, keepsMetadata: Bool = false) {
        self.layout = layout
        self.quality = quality
        self.keepsMetadata = keepsMetadata
    }
}
