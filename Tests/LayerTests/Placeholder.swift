// LayerTests
