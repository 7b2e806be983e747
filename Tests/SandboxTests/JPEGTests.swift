import Testing

@testable import Sandbox

@Suite struct JPEGTests {
    @Test("a JPEG reads back as the blocks that it was made of", arguments: [(8, 8), (17, 9), (64, 40)])
    func jpeg(width: Int, height: Int) throws {
        let colors = { (column: Int, row: Int) in
            PNG.Color(
                red: UInt8(column * 37 % 256),
                green: UInt8((row * 91 + column) % 256),
                blue: column % 2 == 0 ? 255 : 0
            )
        }
        let picture = try DecodedJPEG(JPEG.encode(width: width, height: height, comment: "x", color: colors))
        #expect(picture.width == width && picture.height == height)
        let columns = (width + 7) / 8
        for (index, block) in picture.blocks.enumerated() {
            let color = colors(index % columns, index / columns)
            let luma = 0.299 * Double(color.red) + 0.587 * Double(color.green) + 0.114 * Double(color.blue)
            #expect(abs(Double(block[0]) - luma) < 1.5)
            #expect(abs(Double(block[1]) - (128 + 0.564 * (Double(color.blue) - luma))) < 2.5)
            #expect(abs(Double(block[2]) - (128 + 0.713 * (Double(color.red) - luma))) < 2.5)
        }
    }
}
